"""What the tests of transports share: a server that is started, and plain HTTP to it, without a library that could be kind."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from live import case, main  # noqa: E402,F401

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
FAKE_SERVER = os.environ["FAKE_SERVER"]
WAIT_S = 60
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(method, params=None, number=1):
    """A request of the protocol."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


NOBODY = 65534


def as_nobody(words):
    """Runs a program as a user without any rights, who need not be able to find it: in a child, before it becomes the program."""
    program = os.open(words[0], os.O_RDONLY)
    os.chdir("/")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    os.execve(program, words, os.environ)


@contextlib.contextmanager
def http_server(*words, program=None, is_nobody=False):
    """A server over HTTP: its port; .log holds the lines of stderr. It must end by itself in the end."""
    words = [program, "http", *words] if program else [SCHEDSCOPE, "mcp", "--http", *words]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               preexec_fn=(lambda: as_nobody(words)) if is_nobody and os.geteuid() == 0 else None)
    lines, found = [], None
    while not found:
        lines.append(process.stderr.readline())
        assert lines[-1], lines
        found = re.search(r"http://\S+:(\d+)/mcp", lines[-1])
    token = re.search(r"clients need the token in (\S+)", "".join(lines))
    server = Server(int(found[1]), process.pid, token and token[1])
    reader = threading.Thread(target=lambda: server.log.extend(process.stderr), daemon=True)
    reader.start()
    try:
        yield server
        if program:
            process.stdin.close()
        else:
            process.terminate()
        process.wait(WAIT_S)
        reader.join(WAIT_S)
        assert process.returncode == 0, (process.returncode, server.log)
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.wait()


class Server:
    """One HTTP server, and the session that was agreed on with it."""

    def __init__(self, port, pid, token_file=None):
        self.port = port
        self.pid = pid
        self.token_file = token_file
        self.token = None
        if token_file:
            with open(token_file, encoding="ascii") as file:
                self.token = file.read().strip()
        self.log = []
        self.session = None

    def send(self, body=None, method="POST", headers=None, path="/mcp"):
        """One HTTP request: status, headers, parsed body."""
        words = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.token:
            words["Authorization"] = f"Bearer {self.token}"
        if self.session:
            words["Mcp-Session-Id"] = self.session
        words.update(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, path, text, {k: v for k, v in words.items() if v is not None})
        answer = connection.getresponse()
        data = answer.read().decode()
        connection.close()
        if answer.headers.get_content_type() == "text/event-stream":
            return answer.status, answer.headers, list(events(data.splitlines(keepends=True)))
        return answer.status, answer.headers, json.loads(data) if data else None

    def hello(self, version="2025-11-25", headers=None):
        """Begins a session."""
        self.session = None
        status, got, answer = self.send(request("initialize", {**HELLO, "protocolVersion": version}), headers=headers)
        assert status == 200, (status, answer)
        self.session = got["Mcp-Session-Id"]
        assert self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)[0] == 202
        return answer["result"]

    def nr_fds(self):
        """How many descriptors the server has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def authorization(self):
        """The header that it takes, or nothing."""
        return f"Authorization: Bearer {self.token}\r\n" if self.token else ""

    def open(self, text, receive_bytes=None):
        """A socket on which the bytes of a request were sent."""
        s = socket.socket()
        if receive_bytes:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        s.settimeout(WAIT_S)
        s.connect(("127.0.0.1", self.port))
        s.sendall(text.encode())
        return s

    def open_stream(self, last=None, body=None):
        """A GET (or POST) that is left open: a socket and the events as they come."""
        head = f"{'POST' if body else 'GET'} /mcp HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream, application/json\r\n"
        head += f"Mcp-Session-Id: {self.session}\r\n" + self.authorization() + (f"Last-Event-ID: {last}\r\n" if last else "")
        text = json.dumps(body) if body else ""
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        s = self.open(head + "\r\n" + text)
        lines = s.makefile("r", newline="\n")
        status = int(lines.readline().split()[1])
        assert status == 200, status
        while lines.readline().strip():
            pass
        return s, events(lines)


def events(lines):
    """(id, message or None) of each event."""
    number, data = None, None
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("id: "):
            number = line[4:]
        elif line.startswith("data:"):
            data = line[5:].strip()
        elif not line and data is not None:
            yield number, json.loads(data) if data else None
            data = None
