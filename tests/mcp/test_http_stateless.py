"""The stateless revision over HTTP: requests without a session, headers, streams, and what becomes of a call whose client has gone."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import tempfile
import time

from http_client import FAKE_SERVER, WAIT_S, case, events, http_server, main, request
from live import need_live

NEW = "2026-07-28"
KEY = "io.modelcontextprotocol/"


def ask(method, params=None, number=1, **more):
    """A request, its "_meta" with it."""
    meta = {KEY + "protocolVersion": NEW, KEY + "clientCapabilities": {}, **more}
    return request(method, {**(params or {}), "_meta": meta}, number)


def headers_of(message):
    """Those that repeat what the body says."""
    params = message.get("params", {})
    words = {"MCP-Protocol-Version": NEW, "Mcp-Method": message["method"], "Mcp-Name": params.get("name") or params.get("uri")}
    return {k: v for k, v in words.items() if v}


def send(server, message, **headers):
    """Status, headers, answer."""
    return server.send(message, headers={**headers_of(message), **headers})


def call(server, name, arguments=None, **more):
    """The structure that a tool answers with."""
    status, _, answer = send(server, ask("tools/call", {"name": name, "arguments": arguments or {}}, **more))
    assert status == 200, (status, answer)
    return answer["result"]["structuredContent"]


def open_call(server, message):
    """A socket on which a request was sent; its answer is not read."""
    text = json.dumps(message)
    words = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers_of(message)}
    lines = "".join(f"{k}: {v}\r\n" for k, v in words.items())
    return server.open(f"POST /mcp HTTP/1.0\r\nHost: localhost\r\n{server.authorization()}{lines}Content-Length: {len(text)}\r\n\r\n{text}")


def read_stream(s):
    """The events of an answer, as they come; the head must be that of a stream."""
    lines = s.makefile("r", newline="\n")
    head = [lines.readline()]
    while head[-1].strip():
        head.append(lines.readline())
    assert " 200 " in head[0] and any("text/event-stream" in line for line in head), head
    return events(lines)


def wait_until(condition):
    """Polls until it is so."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited for nothing"
        time.sleep(0.02)


@case
def a_request_needs_no_session_and_gets_none():
    with http_server() as server:
        status, headers, answer = send(server, ask("server/discover"))
        assert status == 200 and "Mcp-Session-Id" not in headers, headers
        assert answer["result"]["supportedVersions"] == [NEW]
        assert answer["result"]["_meta"][KEY + "serverInfo"]["name"] == "schedscope"
        # A session id means nothing here, and does no harm.
        status, headers, answer = send(server, ask("tools/list"), **{"Mcp-Session-Id": "0" * 32})
        assert status == 200 and answer["result"]["tools"] and "Mcp-Session-Id" not in headers
        # Both on one server.
        server.hello()
        assert server.send(request("ping"))[2]["result"] == {}


@case
def errors_have_the_status_that_the_protocol_wants():
    with http_server(program=FAKE_SERVER) as server:
        def expect(status, code, message, **headers):
            got = send(server, message, **headers)
            assert got[0] == status and got[2]["error"]["code"] == code and got[2]["id"] == message["id"], got
        expect(404, -32601, ask("ping", number=41))
        expect(404, -32601, ask("no/such", number="a"))
        expect(400, -32022, ask("tools/list", **{KEY + "protocolVersion": "v9"}), **{"MCP-Protocol-Version": "v9"})
        expect(400, -32602, ask("tools/list", **{KEY + "clientCapabilities": None}))
        expect(400, -32602, request("tools/list", {}))
        expect(400, -32020, ask("tools/list"), **{"Mcp-Method": "tools/call"})
        expect(400, -32020, ask("tools/list"), **{"Mcp-Method": None})
        expect(400, -32020, ask("tools/list"), **{"MCP-Protocol-Version": None})
        expect(400, -32020, ask("tools/call", {"name": "echo"}), **{"Mcp-Name": "fail"})
        expect(400, -32020, request("initialize", {}))
        expect(200, -32602, ask("tools/call", {"name": "none"}))
        assert send(server, {"jsonrpc": "2.0", "method": "notifications/x"})[0] == 202
        assert send(server, {"jsonrpc": "2.0", "method": "notifications/x"}, **{"Mcp-Method": "notifications/y"})[0] == 400
        for method in ("GET", "DELETE"):
            status, headers, _ = server.send(method=method, headers={"MCP-Protocol-Version": NEW})
            assert status == 405 and headers["Allow"] == "POST", headers
        # An error is JSON for a client that wants a stream, too: the status is what it reads first.
        assert send(server, ask("ping"), Accept="text/event-stream")[0] == 404
        assert send(server, ask("subscriptions/listen", {"notifications": {}}), Accept="application/json")[0] == 406


@case
def progress_and_messages_come_on_the_stream_of_the_answer():
    with http_server(program=FAKE_SERVER) as server:
        got = send(server, ask("tools/call", {"name": "wait", "arguments": {"ms": 400}}, progressToken="p"))[2]
        assert all(number is None for number, _ in got), "events that could be resumed"
        assert [m["method"] for _, m in got[:-1]] == ["notifications/progress"] * (len(got) - 1) and len(got) > 1, got
        assert got[-1][1]["result"]["resultType"] == "complete"
        got = send(server, ask("tools/call", {"name": "talk", "arguments": {}}, **{KEY + "logLevel": "notice"}))[2]
        assert [m["params"]["level"] for _, m in got[:-1]] == ["notice", "warning"], got
        assert call(server, "talk")["text"] == "said"  # without a level: the answer alone


@case
def a_call_whose_client_has_gone_is_cancelled_at_once():
    with http_server(program=FAKE_SERVER) as server:
        for meta in {}, {"progressToken": "p"}:  # plain answers, and streams
            # As many as may run at a time: others wait until one of them has ended.
            calls = [open_call(server, ask("tools/call", {"name": "wait", "arguments": {"ms": 600000}}, **meta)) for _ in range(8)]
            for s in calls if meta else []:
                next(read_stream(s))
            for s in calls:
                s.shutdown(socket.SHUT_RDWR)
            start = time.monotonic()
            assert call(server, "echo", {"text": "free"})["text"] == "free"
            assert time.monotonic() - start < 5


@case
def a_listener_is_told_first_what_it_listens_to_and_then_of_changes():
    with http_server(program=FAKE_SERVER) as server:
        wanted = {"resourceSubscriptions": ["fake://clock?max_rate=10", "fake://none"], "promptsListChanged": True}
        s = open_call(server, ask("subscriptions/listen", {"notifications": wanted}, number="mine"))
        stream = read_stream(s)
        first = next(stream)[1]
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["notifications"] == {"resourceSubscriptions": ["fake://clock?max_rate=10"]}
        for message in (first, next(stream)[1], next(stream)[1]):
            assert message["params"]["_meta"] == {KEY + "subscriptionId": "mine"}, message
        assert message["method"] == "notifications/resources/updated"
        assert message["params"]["uri"] == "fake://clock?max_rate=10"
        nr = server.nr_fds()
        s.shutdown(socket.SHUT_RDWR)  # what reads the stream holds the socket, too
        wait_until(lambda: server.nr_fds() < nr)


@case
def listeners_do_not_take_all_connections():
    with http_server(program=FAKE_SERVER) as server:
        message = ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["fake://clock"]}})
        open_ones = [open_call(server, message) for _ in range(32)]
        for s in open_ones:
            next(read_stream(s))
        assert send(server, message)[0] == 503
        assert call(server, "echo")["text"] == "hello"
        open_ones[0].shutdown(socket.SHUT_RDWR)
        wait_until(lambda: status_of(server, message) == 200)


def status_of(server, message):
    """The status of the answer, before the stream that follows."""
    with open_call(server, message) as s:
        return int(s.recv(64).split()[1])


@case
def the_holder_of_a_token_is_the_owner():
    with http_server(program=FAKE_SERVER) as server:
        assert call(server, "talk")["owner"] == 0
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("0123456789abcdef0123\n")
        file.flush()
        with http_server(file.name, program=FAKE_SERVER) as server:
            assert send(server, ask("tools/list"))[0] == 401
            server.token = "0123456789abcdef0123"
            owner = call(server, "talk")["owner"]
            assert owner > 0 and call(server, "talk")["owner"] == owner
            server.hello()
            session = server.send(request("tools/call", {"name": "talk", "arguments": {}}))[2]
            assert session["result"]["structuredContent"]["owner"] not in (0, owner)


@case
def a_person_is_asked_and_the_call_repeated():
    can = {KEY + "clientCapabilities": {"elicitation": {}}}
    with http_server(program=FAKE_SERVER) as server:
        got = send(server, ask("tools/call", {"name": "choose"}, **can))[2]["result"]
        assert got["resultType"] == "input_required" and list(got["inputRequests"]) == ["fruit"], got
        answer = {"fruit": {"action": "accept", "content": {"fruit": "plum"}}}
        got = send(server, ask("tools/call", {"name": "choose", "inputResponses": answer}, **can))[2]["result"]
        assert got["structuredContent"]["text"] == "plum"


@case
def of_a_folder_with_several_recordings_the_person_chooses():
    can = {KEY + "clientCapabilities": {"elicitation": {"form": {}}}}
    data = pathlib.Path(__file__).resolve().parent.parent / "data/perfetto/c-guest-idle.pftrace.gz"

    def load(server, path, meta, **more):
        arguments = {"file_path": path}
        return send(server, ask("tools/call", {"name": "load_perfetto_trace", "arguments": arguments, **more}, **meta))[2]["result"]
    with tempfile.TemporaryDirectory() as folder:
        for name in "one.pftrace.gz", "two.pftrace.gz", "sub/three.pftrace.gz", "notes.txt", ".hidden.pftrace":
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            shutil.copy(data, path)
        os.chmod(folder, 0o755)  # a server of root reads it as another user
        pathlib.Path(folder, "empty").mkdir()
        os.utime(pathlib.Path(folder, "one.pftrace.gz"), (0, 0))
        with http_server("--allow-path", folder) as server:
            for path in folder, ".":
                asked = load(server, path, can)
                assert asked["resultType"] == "input_required", asked
                form = asked["inputRequests"]["file"]["params"]["requestedSchema"]
                assert form["properties"]["file"]["enum"] == ["two.pftrace.gz", "one.pftrace.gz"], form
            answer = {"file": {"action": "accept", "content": {"file": "one.pftrace.gz"}}}
            got = load(server, folder, can, inputResponses=answer)
            assert got["structuredContent"]["file_path"].endswith("one.pftrace.gz"), got
            answer["file"]["content"]["file"] = "../../etc/passwd"
            assert load(server, folder, can, inputResponses=answer)["resultType"] == "input_required"
            for got in load(server, folder, can, inputResponses={"file": {"action": "cancel"}}), load(server, folder, {}):
                assert got["isError"] and "two.pftrace.gz, one.pftrace.gz" in got["content"][0]["text"], got
            # One is no question, none is an error, and what is outside stays unknown.
            assert load(server, "sub", {})["structuredContent"]["file_path"].endswith("three.pftrace.gz")
            assert "no recording" in load(server, "empty", can)["content"][0]["text"]
            assert "not below" in load(server, "/etc", can)["content"][0]["text"]


def nr_threads(server):
    """Of the server."""
    return len(os.listdir(f"/proc/{server.pid}/task"))


@case
def requests_leave_nothing_behind():
    with http_server(program=FAKE_SERVER) as server:
        def both():
            server.session = None
            call(server, "echo", {"text": "x"})
            send(server, ask("resources/read", {"uri": "fake://still"}))
            open_call(server, ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["fake://clock"]}})).close()
            open_call(server, ask("tools/call", {"name": "wait", "arguments": {"ms": 600000}})).close()
            server.hello()
            server.send(request("tools/list"))
            server.send(method="DELETE")
        for _ in range(5):
            both()
        time.sleep(0.3)
        fds, threads = server.nr_fds(), nr_threads(server)
        for _ in range(40):
            both()
        wait_until(lambda: server.nr_fds() <= fds)
        assert nr_threads(server) <= threads + 8, "more than the pool has"


def nr_programs(server):
    """BPF programs that the server holds."""
    nr = 0
    for name in os.listdir(f"/proc/{server.pid}/fdinfo"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{server.pid}/fdinfo/{name}", encoding="ascii") as file:
                nr += "prog_id:" in file.read()
    return nr


@case
def a_recording_whose_client_has_gone_is_discarded():
    need_live()
    with tempfile.TemporaryDirectory() as folder, http_server("--allow-path", folder) as server:
        args = {"duration_secs": 300, "output_path": "kept.pftrace"}
        # As a stream, too: there is no way back to it in this era.
        for meta in {}, {"progressToken": "p"}:
            s = open_call(server, ask("tools/call", {"name": "record_and_analyze", "arguments": args}, **meta))
            wait_until(lambda: nr_programs(server) > 0)
            if meta:
                next(read_stream(s))
            s.shutdown(socket.SHUT_RDWR)
            start = time.monotonic()
            wait_until(lambda: nr_programs(server) == 0 and not os.listdir(folder))
            assert time.monotonic() - start < 8
            assert call(server, "list_traces")["total"] == 0


if __name__ == "__main__":
    main()
