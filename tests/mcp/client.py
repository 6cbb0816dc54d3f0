"""A client of `schedscope mcp` over standard input and output, for tests.

Every line that the server writes must be one JSON-RPC message: anything else fails the test that reads it. Answers go to
who asked, notifications into a list. The environment names the program: SCHEDSCOPE, else that of ./build.

    with Client("--daemon") as mcp:
        mcp.call("get_topology")["summary"]
        mcp.read("scheduler://current")
        mcp.subscribe("events://stream")
        mcp.wait_for_update("events://stream")
"""
import json
import os
import pathlib
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(ROOT / "build/schedscope"))
LATEST = "2025-11-25"
ANSWER_BYTES_MAX = 8192  # of a default answer, structure and text together
WAIT_S = max(60, int(os.environ.get("LIVE_WAIT_S", "0")))  # nothing here takes longer unless it hangs


class RpcError(Exception):
    """An error answer: code, message, data."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")
        self.message = error.get("message")
        self.data = error.get("data")


class ToolError(Exception):
    """A tool's result with isError; its text says what to do next."""


def problem_of(message):
    """Why it is no JSON-RPC message of a server, or None."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return "no object with jsonrpc 2.0"
    if "method" in message:
        return None if isinstance(message["method"], str) and "id" not in message else "a notification with an id"
    if "id" not in message or ("result" in message) == ("error" in message):
        return "neither a result nor an error of a request"
    return None


class Client:
    """A running server, initialized unless asked otherwise."""

    def __init__(self, *args, initialize=True, env=None, cwd=None, command=()):
        self.process = subprocess.Popen([*command, SCHEDSCOPE, "mcp", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd)
        self.pid = self.process.pid
        self.answers, self.notifications, self.problems, self.sizes = {}, [], [], {}
        self.stderr = []
        self.info = None
        self._change = threading.Condition()
        self._is_over = False
        self._next_id = 0
        self._threads = [threading.Thread(target=self._read, daemon=True),
                         threading.Thread(target=self._read_stderr, daemon=True)]
        for thread in self._threads:
            thread.start()
        if initialize:
            self.info = self.initialize()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.kill()

    def _read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            problem = problem_of(message)
            with self._change:
                if problem:
                    self.problems.append(f"{problem}: {line[:200]!r}")
                elif "method" in message:
                    self.notifications.append(message)
                elif message["id"] in self.answers:
                    self.problems.append(f"a second answer to {message['id']}")
                else:
                    self.answers[message["id"]] = message
                    self.sizes[message["id"]] = len(line)
                self._change.notify_all()
        with self._change:
            self._is_over = True
            self._change.notify_all()

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr.append(line.decode(errors="replace").rstrip("\n"))

    def check(self):
        """Fails if anything but JSON-RPC was written to standard output."""
        if self.problems:
            raise AssertionError("not JSON-RPC on standard output: " + "; ".join(self.problems[:3]))

    def write(self, line):
        """Raw bytes or text, with the line's end."""
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def notify(self, method, **params):
        """A message that is never answered."""
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def send(self, method, params=None):
        """A request; its id, for answer()."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message))
        return self._next_id

    def answer(self, ident, timeout=WAIT_S):
        """The whole answer to a request, as it came."""
        with self._change:
            self._change.wait_for(lambda: ident in self.answers or self._is_over, timeout)
            self.check()
            if ident not in self.answers:
                raise AssertionError(f"no answer to request {ident}; stderr: {' | '.join(self.stderr[-3:])}")
            return self.answers[ident]

    def request(self, method, params=None, timeout=WAIT_S):
        """The result of a request; RpcError if it failed."""
        answer = self.answer(self.send(method, params), timeout)
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def initialize(self, version=LATEST):
        """Shakes hands; what the server reported of itself."""
        result = self.request("initialize", {"protocolVersion": version, "capabilities": {},
                                             "clientInfo": {"name": "schedscope-tests", "version": "1"}})
        self.notify("notifications/initialized")
        return result

    def everything(self, method, key, meta=None):
        """All items of a list that comes in pages."""
        items, first = [], {"_meta": meta} if meta else {}
        params = first
        while True:
            page = self.request(method, params)
            items += page[key]
            if "nextCursor" not in page:
                return items
            params = {**first, "cursor": page["nextCursor"]}

    def tools(self, sets="full"):
        """By name, those of some sets."""
        return {tool["name"]: tool for tool in self.everything("tools/list", "tools", {"schedscope/toolsets": sets})}

    def resources(self):
        """By URI."""
        return {resource["uri"]: resource for resource in self.everything("resources/list", "resources")}

    def call(self, tool, _timeout=WAIT_S, **arguments):
        """The structured result of a tool; ToolError if it says isError. Text and structure must be the same."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments}, _timeout)
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise ToolError(text)
        if json.loads(text) != result["structuredContent"]:
            raise AssertionError(f"{tool}: the text is not the structured content")
        return result["structuredContent"]

    def last_size(self):
        """Bytes of the line that answered the last request."""
        return self.sizes[self._next_id]

    def read(self, uri):
        """The body of a resource."""
        contents = self.request("resources/read", {"uri": uri})["contents"]
        if len(contents) != 1 or contents[0]["uri"] != uri:
            raise AssertionError(f"{uri}: {len(contents)} contents, of {contents[0].get('uri')}")
        return json.loads(contents[0]["text"])

    def subscribe(self, uri):
        """Updates of it come as notifications from now on."""
        return self.request("resources/subscribe", {"uri": uri})

    def unsubscribe(self, uri):
        """No more updates of it."""
        return self.request("resources/unsubscribe", {"uri": uri})

    def updates(self, uri):
        """How often the server has reported an update of that resource."""
        with self._change:
            return sum(1 for n in self.notifications
                       if n["method"] == "notifications/resources/updated" and n["params"]["uri"] == uri)

    def wait_for_update(self, uri, number=1, timeout=WAIT_S):
        """True once there were so many."""
        def count():
            return sum(1 for n in self.notifications
                       if n["method"] == "notifications/resources/updated" and n["params"]["uri"] == uri)

        with self._change:
            self._change.wait_for(lambda: count() >= number or self._is_over, timeout)
            return count() >= number

    def programs(self):
        """Ids of the BPF programs that the server holds."""
        found = set()
        for info in pathlib.Path(f"/proc/{self.pid}/fdinfo").iterdir():
            try:
                lines = info.read_text(encoding="ascii").splitlines()
            except OSError:  # closed meanwhile
                continue
            found |= {int(line.split()[1]) for line in lines if line.startswith("prog_id:")}
        return found

    def cpu_seconds(self):
        """What the server has used so far."""
        words = pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self, timeout=WAIT_S):
        """Ends the input, waits for the end; fails if the server does."""
        self.process.stdin.close()
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise AssertionError(f"still running {timeout} s after the end of its input") from error
        for thread in self._threads:
            thread.join(5)
        self.check()
        if code != 0:
            raise AssertionError(f"exit {code}: {' | '.join(self.stderr[-3:])}")

    def kill(self):
        """Leaves nothing behind, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def wait_until(condition, timeout=WAIT_S, pause=0.05):
    """True once the condition holds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(pause)
    return bool(condition())
