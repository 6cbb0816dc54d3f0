"""A client of `schedscope mcp` over standard input and output, for tests of its tools. Every line must be JSON-RPC."""
import json
import os
import pathlib
import re
import subprocess

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(pathlib.Path(__file__).resolve().parents[2] / "build/schedscope"))
MAX_CALLS, MAX_BYTES = 3, 8000  # until a cause is named, and of all those answers


class Refused(Exception):
    """A result with isError."""


class Client:
    def __init__(self, *options, prefix=(), **kwargs):
        self.child = subprocess.Popen([*prefix, SCHEDSCOPE, "mcp", *map(str, options)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, **kwargs)
        self.next_id = 0
        self.notifications = []
        self.last_bytes = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "test", "version": "1"}})
        self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        assert self.child.wait(60) == 0, self.child.returncode
        self.child.stdout.close()

    def send(self, message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params else {})})

    def ask(self, method, params=None):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, **({"params": params} if params else {})})
        return self.next_id

    def take(self):
        """The next message, and its length."""
        line = self.child.stdout.readline()
        assert line.endswith(b"\n"), "the server has gone"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        return message, len(line)

    def answer(self, number):
        while True:
            message, length = self.take()
            if message.get("id") == number:
                self.last_bytes = length
                return message
            assert "id" not in message, message
            self.notifications.append(message)

    def request(self, method, params=None):
        message = self.answer(self.ask(method, params))
        assert "error" not in message, message
        return message["result"]

    def call(self, tool, **args):
        result = self.request("tools/call", {"name": tool, "arguments": args})
        texts = [c["text"] for c in result["content"]]
        if result.get("isError"):
            assert "structuredContent" not in result
            raise Refused(texts[0])
        assert json.loads(texts[0]) == result["structuredContent"]
        return result["structuredContent"]

    def tools(self, sets="full"):
        found, cursor = [], None
        while True:
            page = self.request("tools/list", {"_meta": {"schedscope/toolsets": sets}, **({"cursor": cursor} if cursor else {})})
            found += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return {t["name"]: t for t in found}


def refusal(client, tool, **args):
    """The sentence of a call that must fail."""
    try:
        got = client.call(tool, **args)
    except Refused as why:
        return str(why)
    raise AssertionError(f"{tool} {args} answered {str(got)[:200]}")


def follow(client, tool, **args):
    """The answers to a call that gives findings and to the calls that it leads to, as texts: MAX_CALLS at most."""
    calls, answers = [(tool, args)], []
    while calls and len(answers) < MAX_CALLS:
        tool, args = calls.pop(0)
        got = client.call(tool, **args)
        answers.append(json.dumps(got, ensure_ascii=False, separators=(",", ":")))
        if len(answers) == 1:
            calls = [(f["next"]["tool"], f["next"]["arguments"]) for f in got["findings"]]
    return answers


def leading_answers(path, patterns=()):
    """What the server says of a recording until it has said all that is looked for; all of it if it does not."""
    with Client("--allow-path", os.path.dirname(path)) as mcp:
        answers = follow(mcp, "load", file_path=path)
    texts = ["\n".join(answers[:nr]) for nr in range(1, len(answers) + 1)]
    said = next((t for t in texts if patterns and all(re.search(p, t) for p in patterns)), texts[-1])
    assert len(said.encode()) <= MAX_BYTES, f"{len(said.encode())} bytes: {said}"
    return said
