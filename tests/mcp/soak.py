#!/usr/bin/env python3
"""soak.py [CALLS]: mixed calls of both eras over stdio and over HTTP, 10,000 each if not said otherwise.

Prints what the server holds after a tenth of them and at the end: memory, descriptors, threads, child processes; then the CPU time
that it takes when it is idle. Fails when something has grown. Not part of the tests: it takes minutes.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time

from client import SCHEDSCOPE, Client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("SCHEDSCOPE", SCHEDSCOPE)
os.environ.setdefault("FAKE_SERVER", str(ROOT / "build/tests/mcp/fake_server"))
from http_client import events, http_server  # noqa: E402
DATA = ROOT / "tests/data/perfetto"
TRACE = str(DATA / "c-guest-idle.pftrace.gz")
KEY = "io.modelcontextprotocol/"
META = {KEY + "protocolVersion": "2026-07-28", KEY + "clientCapabilities": {}}
RSS_GROWTH_KB = 2048  # what the allocator keeps, not what calls leave: of 10,000 calls each would leave 200 bytes
THREADS_MAX = 16  # the pool, which grows to eight as it needs them, and those of the transport
IDLE_S = 5


def messages(is_new, number):
    """A handful of calls, good and bad; a trace is loaded and unloaded."""
    name = f"t{number % 2}"

    def tool(tool_name, **arguments):
        return "tools/call", {"name": tool_name, "arguments": arguments}
    calls = [("tools/list", {}), ("prompts/list", {}), ("resources/read", {"uri": "stats://system/memory"}),
             ("prompts/get", {"name": "debug_high_latency", "arguments": {"pid": "1"}}), ("no/such", {}),
             ("resources/read", {"uri": "nowhere://at/all"}), tool("no_such_tool"), tool("list_traces", wrong=1), tool("get_topology"),
             ("completion/complete", {"ref": {"type": "ref/prompt", "name": "debug_high_latency"}, "argument": {"name": "pid", "value": ""}})]
    if number % 10 == 0:
        calls += [tool("load_perfetto_trace", file_path=TRACE, trace_id=name), tool("get_trace_summary", trace_id=name),
                  tool("analyze_wakeup_latency", trace_id=name), tool("unload_trace", trace_id=name)]
    calls += [("server/discover", {})] if is_new else [("ping", {})]
    for method, params in calls:
        yield method, {**params, "_meta": META} if is_new else params


class OverStdio:
    """Both eras on one connection."""

    def __init__(self):
        self.client = Client("--allow-path", str(DATA))
        self.pid = self.client.pid

    def call(self, is_new, method, params):
        """Waits for the answer, whatever it is."""
        del is_new
        self.client.answer(self.client.send(method, params))

    def close(self):
        """Ends the server."""
        self.client.close()


class OverHttp:
    """A session, and requests without one, on connections that stay."""

    def __init__(self):
        self.context = http_server("--allow-path", str(DATA))
        self.server = self.context.__enter__()
        self.server.hello()
        self.pid = self.server.pid
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.number = 0

    def call(self, is_new, method, params):
        """Waits for the answer, whatever it is."""
        self.number += 1
        words = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.server.token:
            words["Authorization"] = f"Bearer {self.server.token}"
        if is_new:
            words.update({"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method})
            if "name" in params or "uri" in params:
                words["Mcp-Name"] = params.get("name") or params.get("uri")
        else:
            words["Mcp-Session-Id"] = self.server.session
        text = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        self.connection.request("POST", "/mcp", text, words)
        got = self.connection.getresponse()
        data = got.read().decode()
        if got.headers.get_content_type() == "text/event-stream":
            answer = list(events(data.splitlines(keepends=True)))[-1][1]
        else:
            answer = json.loads(data)
        assert answer["id"] == self.number, answer

    def close(self):
        """Ends the server."""
        self.connection.close()
        self.context.__exit__(None, None, None)


def cpu_s(pid):
    """CPU time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def held(pid):
    """What a process holds."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = dict(line.split(":", 1) for line in file)
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return {"rss_kb": int(status["VmRSS"].split()[0]), "fds": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": int(status["Threads"]), "children": len(children)}


def soak(way, nr_calls):
    """What it held after a tenth of the calls, and in the end; idle CPU time."""
    nr, number, first, start = 0, 0, None, time.monotonic()
    while nr < nr_calls:
        for is_new in (False, True):
            for method, params in messages(is_new, number):
                way.call(is_new, method, params)
                nr += 1
        number += 1
        if not first and nr >= nr_calls / 10:
            time.sleep(0.5)
            first = held(way.pid)
    took_s = time.monotonic() - start
    time.sleep(1.5)  # a connection that was used is closed a moment later
    last, before = held(way.pid), cpu_s(way.pid)
    time.sleep(IDLE_S)
    idle_s = cpu_s(way.pid) - before
    print(f"{type(way).__name__}: {nr} calls in {took_s:.1f} s; {first} -> {last}; idle CPU {idle_s:.2f} s of {IDLE_S} s", flush=True)
    way.close()
    return first["rss_kb"] + RSS_GROWTH_KB >= last["rss_kb"] and idle_s <= 0.02 and last["threads"] <= THREADS_MAX and \
        all(last[key] <= first[key] for key in ("fds", "children"))


def main():
    nr_calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    print(f"{SCHEDSCOPE}: {nr_calls} calls each", flush=True)
    results = [soak(way(), nr_calls) for way in (OverStdio, OverHttp)]
    sys.exit(0 if all(results) else "something has grown")


if __name__ == "__main__":
    main()
