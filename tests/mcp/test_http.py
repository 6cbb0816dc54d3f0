"""The server over HTTP, byte by byte: what is answered how, what is refused, and what becomes of clients that are slow or gone."""
import contextlib
import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time

from http_client import FAKE_SERVER, HELLO, NOBODY, SCHEDSCOPE, WAIT_S, case, http_server, main, request
from live import Skip, need_live

JSON_POST = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"


def post(server):
    """The first lines of a request."""
    return JSON_POST + server.authorization()


def wait_call(ms, number=5, **meta):
    """A call that takes so long."""
    return request("tools/call", {"name": "wait", "arguments": {"ms": ms}, **({"_meta": meta} if meta else {})}, number)


def wait_until(condition):
    """Polls until it is so."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited for nothing"
        time.sleep(0.05)


@case
def requests_are_answered_as_json_and_notifications_with_202():
    with http_server() as server:
        assert server.hello()["protocolVersion"] == "2025-11-25"
        assert len(server.session) == 32
        status, headers, answer = server.send(request("ping"))
        assert (status, answer) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
        assert headers.get_content_type() == "application/json"
        status, _, answer = server.send({"jsonrpc": "2.0", "method": "notifications/nothing"})
        assert (status, answer) == (202, None)
        status, _, answer = server.send({"jsonrpc": "2.0", "id": 9, "result": {}})
        assert (status, answer) == (202, None)
        status, _, answer = server.send(request("tools/call", {"name": "get_topology", "arguments": {}}))
        assert answer["result"]["structuredContent"]["summary"]["total_cpus"] == len(os.sched_getaffinity(0)) or \
            answer["result"]["structuredContent"]["summary"]["total_cpus"] == os.cpu_count()


@case
def answers_say_when_a_silent_connection_is_closed():
    with http_server("127.0.0.1:0", "--http-timeout", "7") as server:
        server.hello()
        assert server.send(request("ping"))[1]["Keep-Alive"] == "timeout=7"


@case
def the_address_chooses_which_tools_are_listed():
    with http_server() as server:
        server.hello()
        answer = server.send(request("tools/list"), path="/mcp?toolsets=trace")[2]
        names = [t["name"] for t in answer["result"]["tools"]]
        assert "explain_wait" in names and "get_topology" not in names, names
        assert server.send(request("tools/list"), path="/mcp?toolsets=nonsense")[0] == 400


@case
def a_session_begins_with_initialize_and_ends_with_delete():
    with http_server() as server:
        status, _, answer = server.send(request("tools/list"))
        assert status == 400 and answer["error"]["code"] == -32600, answer
        assert server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 400
        status, headers, answer = server.send(request("initialize", {}))
        assert status == 400 and answer["error"]["code"] == -32602 and "Mcp-Session-Id" not in headers
        assert server.send(method="GET")[0] == 400
        assert server.send(method="DELETE")[0] == 400
        server.hello()
        assert server.send(request("tools/list"), headers={"Mcp-Session-Id": "0" * 32})[0] == 404
        assert server.send(method="DELETE")[0] == 204
        assert server.send(request("tools/list"))[0] == 404
        assert server.send(method="GET")[0] == 404


@case
def sessions_have_their_own_traces():
    trace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/perfetto/c-guest-idle.pftrace.gz")
    with http_server("--allow-path", os.path.dirname(trace)) as server:
        def call(session, tool, **args):
            server.session = session
            return server.send(request("tools/call", {"name": tool, "arguments": args}))[2]["result"]
        server.hello()
        first = server.session
        server.hello()
        second = server.session
        assert not call(first, "load_perfetto_trace", file_path=trace, trace_id="mine").get("isError")
        assert call(second, "list_traces")["structuredContent"] == {"traces": [], "total": 0}
        for tool in ("unload_trace", "get_trace_summary"):
            why = call(second, tool, trace_id="mine")
            assert why["isError"] and "not found" in why["content"][0]["text"], why
        assert not call(second, "load_perfetto_trace", file_path=trace, trace_id="other").get("isError")
        for session, name in (first, "mine"), (second, "other"):
            assert call(session, "get_trace_summary")["structuredContent"]["trace_id"] == name
            assert [t["trace_id"] for t in call(session, "list_traces")["structuredContent"]["traces"]] == [name]


@case
def headers_are_checked():
    with http_server() as server:
        server.hello()
        for headers, want in [({"MCP-Protocol-Version": "2025-06-18"}, 200), ({"MCP-Protocol-Version": "1999-01-01"}, 400),
                              ({"Content-Type": "text/plain"}, 415), ({"Content-Type": None}, 415),
                              ({"Accept": "text/html"}, 406), ({"Accept": None}, 200), ({"Accept": "application/json"}, 200)]:
            status = server.send(request("ping"), headers=headers)[0]
            assert status == want, (headers, status)
        status, headers, answer = server.send(request("ping"), headers={"Accept": "text/event-stream"})
        assert status == 200 and headers.get_content_type() == "text/event-stream"
        assert [e[1]["result"] for e in answer if e[1]] == [{}]
        status, headers, _ = server.send(method="PUT")
        assert status == 405 and "POST" in headers["Allow"]
        assert server.send(method="OPTIONS")[0] == 405
        assert server.send(request("ping"), path="/")[0] == 404
        assert server.send(method="GET", headers={"Accept": "application/json"})[0] == 406
        assert server.send(method="GET", headers={"Last-Event-ID": "x"})[0] == 400
        assert server.send(method="GET", headers={"Last-Event-ID": "77-1"})[0] == 400


@case
def what_is_no_message_is_a_bad_request():
    with http_server() as server:
        server.hello()
        for body, code in [("{", -32700), ("", -32700), ("{}", -32600), ("[" * 5000, -32700), ("[]", -32600)]:
            status, _, answer = server.send(body)
            assert status == 400 and answer["error"]["code"] == code and answer["id"] is None, (body[:9], status, answer)
        server.hello("2025-03-26")
        status, _, answer = server.send([request("ping", number=1), request("ping", number=2)])
        assert status == 200 and sorted(a["id"] for a in answer) == [1, 2]


@case
def another_host_or_origin_is_refused_and_logged():
    with http_server() as server:
        for headers in [{"Host": "evil.example"}, {"Host": f"evil.example:{server.port}"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Host": "10.1.2.3"}, {"Host": "localhost.evil.example"},
                        {"Origin": "http://localhost:5173"}, {"Origin": "https://localhost"}]:
            status, _, answer = server.send(request("initialize"), headers=headers)
            assert status == 403 and "not allowed" in answer["error"]["message"], (headers, status)
        for headers in [{"Host": "localhost"}, {"Host": f"[::1]:{server.port}"}, {"Origin": f"http://localhost:{server.port}"}]:
            server.hello(headers=headers)
        wait_until(lambda: sum("HTTP 403" in line for line in server.log) == 8)
    with http_server("--allow-host", "box.lan", "--allow-origin", "https://box.lan") as server:
        server.hello(headers={"Host": "box.lan", "Origin": "https://box.lan"})
        for origin in ["http://box.lan", "https://box.lan:8443", "https://other.lan"]:
            assert server.send(request("initialize"), headers={"Host": "box.lan", "Origin": origin})[0] == 403


def as_other_user(server):
    """What a user without rights gets who knows all but the token: in a child that has become one."""
    server.send()  # whatever Python needs for it is loaded: the child may not be able to
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            got = ["readable" if os.access(server.token_file, os.R_OK) else "no token"]
            for method, given in ("POST", None), ("POST", "Bearer " + "0" * 64), ("GET", None), ("DELETE", None):
                body = request("initialize", HELLO) if method == "POST" else None
                got.append(server.send(body, method=method, headers={"Authorization": given})[0])
            os.write(writing, json.dumps(got).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return json.loads(answer.read() or "null")


@case
def as_root_other_users_of_this_machine_are_refused():
    if os.geteuid() != 0:
        raise Skip("needs root")
    for words in [], ["--daemon"]:
        with http_server(*words) as server:
            assert as_other_user(server) == ["no token", 401, 401, 401, 401]
            assert len(server.token) == 64 and os.stat(server.token_file).st_mode & 0o777 == 0o600
            server.hello()
            assert not any(server.token in line for line in server.log)
        assert not os.path.exists(os.path.dirname(server.token_file))


@case
def a_server_with_live_data_needs_a_token_for_any_user():
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    with http_server(is_nobody=True) as server:
        assert server.token is None
        server.hello()
    with http_server("--daemon", is_nobody=True) as server:
        assert server.send(request("initialize"), headers={"Authorization": None})[0] == 401
        server.hello()


@case
def as_root_a_token_that_everybody_can_read_is_refused():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("correct-horse-battery\n")
        file.flush()
        os.chmod(file.name, 0o644)
        done = subprocess.run([SCHEDSCOPE, "mcp", "--http", "--token-file", file.name], capture_output=True, text=True, timeout=WAIT_S)
        assert done.returncode != 0 and "chmod 600" in done.stderr and "horse" not in done.stderr, done


def flood(server, is_over):
    """Connects and says nothing, again and again, and holds on to what it has."""
    held = []
    while not is_over.is_set():
        try:
            held.append(server.open("" if len(held) % 2 else "POST /mcp HTTP/1.1\r\nHost: "))
        except OSError:
            pass
        time.sleep(0.002)
        while len(held) > 300:
            held.pop(0).close()
    for s in held:
        s.close()


@case
def silent_connections_block_no_other_client():
    with http_server("--http-timeout", "3600") as server:
        server.hello()
        stream, _ = server.open_stream()
        silent = [server.open("") for _ in range(100)]
        assert server.send(request("ping"))[0] == 200
        is_over = threading.Event()
        attacker = threading.Thread(target=flood, args=(server, is_over))
        attacker.start()
        for _ in range(50):
            assert server.send(request("ping"))[0] == 200
        is_over.set()
        attacker.join(WAIT_S)
        # Those that have said nothing go by themselves, whatever the timeout is; a client that is being served stays.
        for s in silent:
            try:
                while s.recv(100):
                    pass
            except ConnectionError:
                pass
            s.close()
        stream.setblocking(False)
        try:
            while part := stream.recv(100):
                assert part
            raise AssertionError("the stream was cut")
        except BlockingIOError:
            stream.close()


@case
def streams_of_a_client_that_was_killed_hold_no_session():
    with http_server("--http-timeout", "3600") as server:
        streams = []
        for n in range(32):
            server.hello()
            streams.append(server.open_stream()[0])
            if n % 2:  # a killed client resets, or just ends
                streams[-1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        hello = request("initialize", HELLO)
        assert server.send(hello, headers={"Mcp-Session-Id": None})[0] == 503
        start = time.monotonic()
        for s in streams:
            s.shutdown(socket.SHUT_RDWR)
            s.close()
        wait_until(lambda: server.send(hello, headers={"Mcp-Session-Id": None})[0] == 200)
        took = time.monotonic() - start
        print(f"# {took:.2f} s")
        assert took < 10, took  # the next sign of life would come after 15


@case
def calls_whose_client_has_gone_are_cancelled():
    """More than run at once: what comes after them is answered only if they end."""
    with http_server(program=FAKE_SERVER) as server:  # which waits two seconds for a reader to come back
        server.hello()
        for accept in "application/json", "text/event-stream":
            text = json.dumps(wait_call(600000))
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: {accept}\r\n"
            head += f"Mcp-Session-Id: {server.session}\r\nContent-Length: {len(text)}\r\n\r\n{text}"
            gone = [server.open(head) for _ in range(12)]
            time.sleep(0.2)
            for s in gone:
                s.close()
            assert server.send(wait_call(1))[0] == 200


def loaded_programs(pid):
    """How many BPF programs a process holds."""
    nr = 0
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                nr += "prog_id:" in file.read()
    return nr


@case
def a_recording_whose_client_has_gone_is_discarded():
    need_live()
    with tempfile.TemporaryDirectory() as folder, http_server("--allow-path", folder) as server:
        server.hello()
        for args in {}, {"output_path": "kept.pftrace"}:
            call = request("tools/call", {"name": "record_and_analyze", "arguments": {"duration_secs": 300, **args}})
            text = json.dumps(call)
            s = server.open(post(server) + f"Mcp-Session-Id: {server.session}\r\nContent-Length: {len(text)}\r\n\r\n{text}")
            wait_until(lambda: loaded_programs(server.pid) > 0)
            s.close()
            wait_until(lambda: loaded_programs(server.pid) == 0)
            listed = request("tools/call", {"name": "list_traces", "arguments": {}})
            assert server.send(listed)[2]["result"]["structuredContent"]["total"] == 0
            wait_until(lambda: not os.listdir(folder))


@case
def a_token_is_asked_for_and_never_shown():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("correct-horse-battery\n")
        file.flush()
        with http_server("--token-file", file.name) as server:
            for given in [None, "Bearer wrong-horse-battery", "Bearer correct-horse-battery2", "Bearer ", "Basic abc"]:
                status, headers, _ = server.send(request("initialize"), headers={"Authorization": given})
                assert status == 401 and headers["WWW-Authenticate"] == "Bearer", given
            server.hello(headers={"Authorization": "Bearer correct-horse-battery"})
            assert server.send(request("ping"))[0] == 401  # on every request
        assert not any("horse" in line for line in server.log), server.log


@case
def only_loopback_unless_configured():
    for words, part in [(["0.0.0.0:0"], "--allow-remote"), (["0.0.0.0:0", "--allow-remote"], "--token-file"),
                        (["example.org:80"], "not an address"), (["127.0.0.1:0", "x"], "one address")]:
        done = subprocess.run([SCHEDSCOPE, "mcp", "--http", *words], capture_output=True, text=True, timeout=WAIT_S)
        assert done.returncode != 0 and part in done.stderr and done.stdout == "", (words, done)


@case
def what_is_too_large_is_refused_before_it_is_read():
    with http_server() as server:
        server.hello()
        s = server.open(post(server) + f"Mcp-Session-Id: {server.session}\r\nContent-Length: 4194305\r\n\r\n")
        assert b" 413 " in s.recv(100)
        s.close()
        s = server.open(post(server) + f"Mcp-Session-Id: {server.session}\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = "100000\r\n" + " " * 0x100000 + "\r\n"
        for _ in range(5):
            s.sendall(chunk.encode())
        s.sendall(b"0\r\n\r\n")
        assert b" 413 " in s.recv(100)
        s.close()
        assert server.send(request("ping"))[0] == 200


@case
def a_client_that_sends_slowly_is_cut_and_others_are_served():
    with http_server("--http-timeout", "1") as server:
        server.hello()
        slow = [server.open("POST /mcp HT"), server.open(post(server) + "X: "), server.open(post(server) + "Content-Length: 50\r\n\r\n{")]
        ended = []

        def trickle(s):
            with s:
                try:
                    while True:
                        s.sendall(b"a")
                        time.sleep(0.2)
                except OSError:
                    ended.append(s)

        threads = [threading.Thread(target=trickle, args=(s,), daemon=True) for s in slow]
        for t in threads:
            t.start()
        while len(ended) < 3:
            assert server.send(request("ping"))[0] == 200
            time.sleep(0.2)
        for t in threads:
            t.join(WAIT_S)


@case
def too_many_connections_wait_and_too_many_sessions_push_out_the_oldest():
    with http_server("--http-timeout", "1") as server:
        idle = [server.open("GET ") for _ in range(80)]  # more than are taken at once
        server.hello()
        for s in idle:
            s.close()
        first = server.session
        for _ in range(40):
            server.hello()
        assert server.send(request("ping"))[0] == 200
        assert server.send(request("ping"), headers={"Mcp-Session-Id": first})[0] == 404


@case
def progress_makes_the_answer_a_stream():
    with http_server(program=FAKE_SERVER) as server:
        server.hello()
        status, headers, got = server.send(wait_call(400, progressToken="p"))
        assert status == 200 and headers.get_content_type() == "text/event-stream"
        assert got[0][1] is None and got[0][0].endswith("-0")  # where to go on, at once
        kinds = [m.get("method", "answer") for _, m in got[1:]]
        assert kinds[-1] == "answer" and set(kinds[:-1]) == {"notifications/progress"} and len(kinds) > 1, kinds
        assert [int(i.split("-")[1]) for i, _ in got] == list(range(len(got)))
        status, headers, got = server.send(wait_call(400, progressToken="p"), headers={"Accept": "application/json"})
        assert headers.get_content_type() == "application/json" and got["result"]["structuredContent"] == {"text": "done"}
        server.hello("2025-06-18")
        _, _, got = server.send(wait_call(400, progressToken="p"))
        assert all(m for _, m in got)  # clients of that revision expect a message in every event


@case
def a_cut_answer_is_taken_up_where_it_was_left():
    with http_server(program=FAKE_SERVER) as server:
        server.hello()
        s, stream = server.open_stream(body=wait_call(1500, progressToken="p"))
        seen = [next(stream), next(stream)]
        s.close()
        last = seen[-1][0]
        s, stream = server.open_stream(last=last)
        rest = list(stream)
        s.close()
        numbers = [int(i.split("-")[1]) for i, m in rest if m]
        assert numbers == list(range(int(last.split("-")[1]) + 1, numbers[-1] + 1)), (last, numbers)
        assert rest[-1][1]["result"]["structuredContent"] == {"text": "done"}


@case
def updates_come_on_the_stream_of_get_and_a_second_reader_takes_it_over():
    with http_server(program=FAKE_SERVER) as server:
        server.hello()
        first, stream = server.open_stream()
        assert next(stream)[1] is None
        assert server.send(request("resources/subscribe", {"uri": "fake://clock?max_rate=10"}))[0] == 200
        number, message = next(stream)
        assert message["method"] == "notifications/resources/updated"
        second, other = server.open_stream(last=number)
        list(stream)  # ends
        later = [next(other) for _ in range(3)]
        assert [int(i.split("-")[1]) for i, _ in later] == [int(number.split("-")[1]) + n for n in range(3)]
        first.close()
        second.close()


@case
def a_cancelled_call_ends_without_an_answer():
    with http_server(program=FAKE_SERVER) as server:
        server.hello()
        got = []
        caller = threading.Thread(target=lambda: got.append(server.send(wait_call(600000, number="long"))))
        caller.start()
        time.sleep(0.3)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}
        while caller.is_alive():
            assert server.send(cancel)[0] == 202
            caller.join(0.2)
        assert got[0][0] == 202 and got[0][2] is None


@case
def a_silent_stream_shows_signs_of_life_and_a_reader_that_has_gone_is_noticed():
    with http_server(program=FAKE_SERVER) as server:
        before = server.nr_fds()
        server.hello()
        s, _ = server.open_stream()
        got = b""
        while b"\n:\n\n" not in got:
            part = s.recv(100)
            assert part
            got += part
        s.shutdown(socket.SHUT_RDWR)
        s.close()
        wait_until(lambda: server.nr_fds() <= before)


@case
def clients_that_vanish_leave_nothing_behind():
    with http_server(program=FAKE_SERVER) as server:
        before = server.nr_fds()
        server.hello()
        for n in range(5):
            server.open_stream()[0].close()
            text = json.dumps(wait_call(300 * n))
            server.open(post(server) + f"Mcp-Session-Id: {server.session}\r\nContent-Length: {len(text)}\r\n\r\n{text}").close()
        assert server.send(request("ping"))[0] == 200
        s, _ = server.open_stream(body=wait_call(600000, progressToken=1))
        server.open_stream()
        assert server.send(request("resources/subscribe", {"uri": "fake://clock"}))[0] == 200
        assert server.send(method="DELETE")[0] == 204
        s.close()
        wait_until(lambda: server.nr_fds() <= before)
        # and the server ends at once, though calls run and streams are open: http_server sees to that
        server.hello()
        server.open_stream(body=wait_call(600000, progressToken=1))
        server.open_stream()


@case
def a_client_that_does_not_read_is_dropped():
    with http_server(program=FAKE_SERVER) as server:  # which waits two seconds
        before = server.nr_fds()
        server.hello()
        text = json.dumps(request("tools/call", {"name": "big", "arguments": {"bytes": 3000000}}))
        head = post(server) + f"Mcp-Session-Id: {server.session}\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        deaf = [server.open(head, receive_bytes=4096) for _ in range(8)]
        assert all(s.recv(1) for s in deaf)  # it has begun
        wait_until(lambda: server.nr_fds() <= before)
        assert server.send(request("ping"))[0] == 200
        nr_cut = 0
        for s in deaf:
            nr = 0
            try:
                while part := s.recv(1 << 20):
                    nr += len(part)
            except OSError:
                pass
            nr_cut += nr < 6000000
            s.close()
        assert nr_cut == 8, nr_cut


if __name__ == "__main__":
    main()
