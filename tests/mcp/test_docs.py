"""docs/mcp.md lists what the server offers. With --update it is written anew."""
import json
import re
import subprocess
import sys

from http_client import HELLO, SCHEDSCOPE, WAIT_S, case, main, request
from live import ROOT

PAGE = ROOT / "docs/mcp.md"


def ask(method, key):
    """All entries of a list, with live data offered."""
    items, cursor = [], None
    while True:
        lines = [request("initialize", HELLO), request(method, {"cursor": cursor} if cursor else {}, 2)]
        done = subprocess.run([SCHEDSCOPE, "mcp", "--daemon"], input="".join(json.dumps(m) + "\n" for m in lines),
                              capture_output=True, text=True, timeout=WAIT_S)
        answer = next(json.loads(line) for line in done.stdout.splitlines() if json.loads(line)["id"] == 2)
        items += answer["result"][key]
        cursor = answer["result"].get("nextCursor")
        if not cursor:
            return items


def first_sentence(text):
    """Up to the first full stop that ends one."""
    return re.split(r"(?<=[a-z0-9)])\.(?:\s|$)", text, maxsplit=1)[0].replace("|", "\\|")


def table(title, key, items):
    """A list as it stands on the page."""
    rows = [f"| `{i[key]}` | {first_sentence(i['description'])} |\n" for i in items]
    return f"| {title} | what it tells |\n|---|---|\n" + "".join(rows)


def fill(text):
    """The page with its lists."""
    for title, key, items in [("tool", "name", ask("tools/list", "tools")),
                              ("resource", "uri", ask("resources/list", "resources"))]:
        text, nr = re.subn(rf"(<!-- {title}s -->\n).*?(<!-- end -->)", lambda m: m[1] + table(title, key, items) + m[2], text,
                           flags=re.S)
        assert nr == 1, title
    return text


@case
def the_page_lists_what_the_server_offers():
    text = PAGE.read_text()
    assert fill(text) == text, "run: SCHEDSCOPE=build/schedscope FAKE_SERVER= tests/mcp/test_docs.py --update"


@case
def the_page_names_every_option():
    text = PAGE.read_text()
    page = subprocess.run([SCHEDSCOPE, "mcp", "--help"], capture_output=True, text=True, timeout=WAIT_S).stdout
    for option in ["--daemon", "--http", "--token-file", "--allow-remote", "--allow-host", "--http-timeout", "--print-config",
                   "--toolsets", "--read-only", "--allow-path", "--max-traces", "--max-trace-mib"]:
        assert option in page and option in text, option


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(fill(PAGE.read_text()))
        sys.exit(0)
    main()
