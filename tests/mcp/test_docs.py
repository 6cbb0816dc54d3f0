"""docs/mcp.md and docs/mcp-tools.md list what the server offers. With --update they are written anew."""
import json
import re
import subprocess
import sys

from http_client import HELLO, SCHEDSCOPE, WAIT_S, case, main, request
from live import ROOT

PAGE, FULL_PAGE = ROOT / "docs/mcp.md", ROOT / "docs/mcp-tools.md"


def ask(method, key, sets="full"):
    """All entries of a list, with live data offered."""
    items, cursor = [], None
    while True:
        lines = [request("initialize", HELLO), request(method, {"_meta": {"schedscope/toolsets": sets}, **({"cursor": cursor} if cursor else {})}, 2)]
        done = subprocess.run([SCHEDSCOPE, "mcp", "--daemon"], input="".join(json.dumps(m) + "\n" for m in lines),
                              capture_output=True, text=True, timeout=WAIT_S)
        answer = next(json.loads(line) for line in done.stdout.splitlines() if json.loads(line)["id"] == 2)
        items += answer["result"][key]
        cursor = answer["result"].get("nextCursor")
        if not cursor:
            return items


def get_prompt(name):
    """What a prompt says."""
    lines = [request("initialize", HELLO), request("prompts/get", {"name": name, "arguments": {}}, 2)]
    done = subprocess.run([SCHEDSCOPE, "mcp", "--daemon"], input="".join(json.dumps(m) + "\n" for m in lines),
                          capture_output=True, text=True, timeout=WAIT_S)
    answer = next(json.loads(line) for line in done.stdout.splitlines() if json.loads(line)["id"] == 2)
    return answer["result"]["messages"][0]["content"]["text"]


def first_sentence(text):
    """Up to the first full stop that ends one."""
    return re.split(r"(?<=[a-z0-9)])\.(?:\s|$)", text, maxsplit=1)[0].replace("|", "\\|")


def table(title, key, items):
    """A list as it stands on the page."""
    rows = [f"| `{i[key]}` | {first_sentence(i['description'])} |\n" for i in items]
    return f"| {title} | what it reports |\n|---|---|\n" + "".join(rows)


def put(text, name, content):
    """The page with one of its generated parts."""
    text, nr = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + content + m[2], text, flags=re.S)
    assert nr == 1, name
    return text


def pages():
    """Both, as they should be."""
    page = put(PAGE.read_text(), "core", table("tool", "name", ask("tools/list", "tools", "core")))
    page = put(page, "resources", table("resource", "uri", ask("resources/list", "resources")))
    others = table("tool", "name", ask("tools/list", "tools", "live,trace,profile"))
    return {PAGE: page, FULL_PAGE: put(FULL_PAGE.read_text(), "tools", others)}


@case
def the_pages_list_what_the_server_offers():
    for path, text in pages().items():
        assert path.read_text() == text, "run: SCHEDSCOPE=build/schedscope FAKE_SERVER= tests/mcp/test_docs.py --update"


@case
def the_calls_of_the_dialogues_can_be_made():
    """Tools of the core, with arguments that they have."""
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in ask("tools/list", "tools", "core")}
    text = re.search(r"<!-- dialogues -->\n(.*?)<!-- end -->", PAGE.read_text(), re.S)[1]
    calls = re.findall(r"`(\w+)` `(\{.*?\})`", text)
    assert len(calls) >= 10 and text.count("### ") == 5, calls
    for name, arguments in calls:
        assert set(json.loads(arguments)) <= set(tools[name]), (name, arguments)


WORD = re.compile(r"(?<![\w./:-])[a-z]+(?:_[a-z0-9]+)+(?![\w/:-])")


def names_in(thing, keys=("description", "title")):
    """Names in texts that a client reads, wherever they stand in a list."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from WORD.findall(value) if key in keys and isinstance(value, str) else names_in(value, keys)
    elif isinstance(thing, list):
        for value in thing:
            yield from names_in(value, keys)


def words_in(schema):
    """Names that are no tools: of arguments, of what they may be, of members of results."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (value for value in schema.get("enum", []) if isinstance(value, str))
        for value in schema.values():
            yield from words_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from words_in(value)


@case
def whatever_is_named_like_a_tool_is_one():
    """In descriptions, in what prompts say, in hints of the sources, on the page."""
    listed = ask("tools/list", "tools")
    tools = {tool["name"] for tool in listed}
    verbs = {name.split("_")[0] for name in tools}
    others = {word for tool in listed for word in words_in(tool)}
    prompts = ask("prompts/list", "prompts")
    texts = {"tools": list(names_in(listed)), "resources": list(names_in(ask("resources/list", "resources"))),
             "templates": list(names_in(ask("resources/templates/list", "resourceTemplates"))),
             "prompts": list(names_in(prompts)), "page": WORD.findall(PAGE.read_text() + FULL_PAGE.read_text())}
    for prompt in prompts:
        texts[prompt["name"]] = WORD.findall(get_prompt(prompt["name"]))
        others.add(prompt["name"])
    for path in sorted((ROOT / "src/mcp").glob("*.c")):  # sentences, not names
        strings = re.findall(r'"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"', path.read_text())
        texts[path.name] = [name for text in strings for name in WORD.findall(text)]
    assert sum(map(len, texts.values())) > 300
    wrong = {(place, name) for place, names in texts.items() for name in names
             if name.split("_")[0] in verbs and name not in tools and name not in others}
    assert not wrong, sorted(wrong)


@case
def the_page_names_every_option():
    text = PAGE.read_text()
    page = subprocess.run([SCHEDSCOPE, "mcp", "--help"], capture_output=True, text=True, timeout=WAIT_S).stdout
    for option in ["--daemon", "--http", "--token-file", "--allow-remote", "--allow-host", "--allow-origin", "--http-timeout", "--print-config",
                   "--toolsets", "--read-only", "--allow-path", "--max-traces", "--max-trace-mib"]:
        assert option in page and option in text, option


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        for path, text in pages().items():
            path.write_text(text)
        sys.exit(0)
    main()
