"""The server on standard input and output: lines, ends, signals, and settings for clients."""
import json
import os
import signal
import subprocess
import time

from http_client import FAKE_SERVER, HELLO, SCHEDSCOPE, WAIT_S, case, main, request


def session(messages, program=None, words=()):
    """All lines that answer the given ones; each must be JSON-RPC. stderr apart."""
    text = "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)
    command = [program, "stdio"] if program else [SCHEDSCOPE, "mcp", *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(a["jsonrpc"] == "2.0" for a in answers)
    return answers


@case
def every_line_of_stdout_is_json_rpc_even_when_verbose():
    messages = [request("initialize", HELLO), "", " \t", "nonsense", {"jsonrpc": "2.0", "method": "notifications/initialized"},
                request("tools/list", number=2), request("resources/list", number=3), request("prompts/list", number=4),
                request("tools/call", {"name": "get_topology", "arguments": {}}, 5)]
    for words in [(), ("-v",), ("--debug",), ("-l", "--layered"), ("--read-only",), ("--toolsets", "trace")]:
        answers = session(messages, words=words)
        assert sorted(a["id"] for a in answers if a["id"]) == [1, 2, 3, 4, 5], (words, answers)
        assert [a["error"]["code"] for a in answers if a["id"] is None] == [-32700]


@case
def the_last_line_needs_no_newline_and_is_answered_before_the_end():
    done = subprocess.run([FAKE_SERVER, "stdio"], capture_output=True, text=True, timeout=WAIT_S,
                          input=json.dumps(request("initialize", HELLO)) + "\n" +
                          json.dumps(request("tools/call", {"name": "wait", "arguments": {"ms": 500}}, 2)))
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]


@case
def a_line_that_is_too_long_is_refused_and_the_next_one_answered():
    answers = session([request("initialize", HELLO), "x" * (5 << 20), request("ping", number=2)])
    assert [a["id"] for a in answers] == [1, None, 2] and "4 MiB" in answers[1]["error"]["message"]


@case
def calls_that_take_long_do_not_hold_up_others():
    answers = session([request("initialize", HELLO), request("tools/call", {"name": "wait", "arguments": {"ms": 700}}, 2),
                       request("ping", number=3)], program=FAKE_SERVER)
    assert [a["id"] for a in answers] == [1, 3, 2]


@case
def a_signal_ends_it_at_once_even_if_its_output_is_not_read():
    for flood in [False, True]:
        process = subprocess.Popen([SCHEDSCOPE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write((json.dumps(request("initialize", HELLO)) + "\n").encode())
        process.stdin.flush()
        process.stdout.readline()
        if flood:
            os.set_blocking(process.stdin.fileno(), False)
            line = (json.dumps(request("tools/list")) + "\n").encode()
            stuck = 0
            while stuck < 5:  # until both pipes are full
                try:
                    os.write(process.stdin.fileno(), line)
                    stuck = 0
                except BlockingIOError:
                    stuck += 1
                    time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0, flood
        process.stdout.close()
        process.stdin.close()


@case
def it_ends_when_its_output_is_no_longer_read():
    process = subprocess.Popen([SCHEDSCOPE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.wait(WAIT_S) == 0
    process.stdin.close()


@case
def settings_name_this_program_and_the_options():
    def config(*words):
        return subprocess.run([SCHEDSCOPE, "mcp", *words], capture_output=True, text=True, timeout=WAIT_S)

    for client, group in [("claude-desktop", "mcpServers"), ("claude-code", "mcpServers"), ("cursor", "mcpServers"),
                          ("vscode", "servers"), ("windsurf", "mcpServers"), ("zed", "context_servers"),
                          ("gemini-cli", "mcpServers")]:
        done = config("--daemon", "--print-config", client, "--allow-path", "/a b\"c")
        entry = json.loads(done.stdout)[group]["schedscope"]
        assert done.returncode == 0 and os.path.samefile(entry["command"], SCHEDSCOPE)
        assert entry["args"] == ["mcp", "--daemon", "--allow-path", "/a b\"c"]
    done = config("--print-config=claude-code", "--http", "127.0.0.1:8090", "--token-file", "/etc/hostname")
    entry = json.loads(done.stdout)["mcpServers"]["schedscope"]
    assert entry["url"] == "http://127.0.0.1:8090/mcp" and "${SCHEDSCOPE_TOKEN}" in entry["headers"]["Authorization"]
    assert "[mcp_servers.schedscope]" in config("--print-config", "codex").stdout
    assert config("--print-config", "claude-desktop", "--http", "8090").returncode != 0
    assert config("--print-config", "nobody").returncode != 0


if __name__ == "__main__":
    main()
