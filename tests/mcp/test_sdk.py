"""The server against its peers: the official clients of both eras over stdio and HTTP, and the conformance suite.

They come from npm, into the build folder, once. Where npm cannot be reached there is nothing to run, and the plan says so; under
CI that is a failure.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from http_client import FAKE_SERVER, SCHEDSCOPE, case, http_server, main
from live import ROOT, need_live, scratch

SOURCE = pathlib.Path(__file__).resolve().parent / "sdk"
WANTED = (SOURCE / "package.json").read_text()


def is_installed(folder):
    """What is wanted is there."""
    stamp = folder / "installed.json"
    return stamp.exists() and stamp.read_text() == WANTED


# Another build folder, such as that of sanitizers, takes what the usual one has.
FOLDERS = [pathlib.Path(os.environ["MCP_NODE_DIR"]), ROOT / "build/tests/mcp/sdk"]
FOLDER = next(filter(is_installed, FOLDERS), FOLDERS[0])
NODE = FOLDER / "node_modules/node/bin/node"
SUITE = FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
REVISIONS = ["2025-11-25", "2026-07-28"]
MODES = ["auto", "pin", "legacy"]  # of the client of 2.x
INSTALL_S = 600
TRACE = ROOT / "tests/data/perfetto/e-guest-scx-vtime.pftrace.gz"


def install():
    """Why the peers cannot be had; None when they are there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in [*SOURCE.glob("*.mjs"), *SOURCE.glob("*.yml")]:
        shutil.copy(file, FOLDER)
    if is_installed(FOLDER):
        return None
    if not shutil.which("npm"):
        return "there is no npm"
    (FOLDER / "package.json").write_text(WANTED)
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], cwd=FOLDER,
                              capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return "npm takes too long"
    if done.returncode or not NODE.exists():
        return "npm: " + (done.stderr.strip().splitlines() or ["no reason given"])[0]
    (FOLDER / "installed.json").write_text(WANTED)
    return None


def node(script, *words, token=None, trace=None):
    """Runs a script of the client; what it printed."""
    env = {**os.environ, "SCHEDSCOPE_TOKEN": token or "", "SCHEDSCOPE_TRACE": str(trace or "")}
    done = subprocess.run([NODE, FOLDER / script, *words], cwd=FOLDER, env=env, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def check_session(*words, token=None):
    """A session over everything that is offered."""
    got = json.loads(node("session.mjs", *words, token=token))
    print(f"# {got}")
    assert got["tools"] > 0 and got["prompts"] == 5
    assert not got["missing"], got["missing"]  # what the prompts name exists


@case
def the_official_client_over_stdio():
    check_session("stdio", SCHEDSCOPE, "mcp")


@case
def the_official_client_over_http():
    with http_server() as server:
        check_session("http", f"http://127.0.0.1:{server.port}/mcp", token=server.token)


def check_real(*words, token=None):
    """Everything with good arguments, live events, a recording that is given up."""
    got = json.loads(node("real.mjs", TRACE, *words, token=token))
    print(f"# {got}")
    assert got["answered"] >= 50 and got["events"] > 0, got


@case
def the_official_client_with_live_data_over_stdio():
    need_live()
    with scratch() as folder:
        check_real(folder, "stdio", SCHEDSCOPE, "mcp", "--daemon", "--allow-path", str(TRACE.parent), "--allow-path", folder)


@case
def the_official_client_with_live_data_over_http():
    need_live()
    with scratch() as folder:
        with http_server("--daemon", "--allow-path", str(TRACE.parent), "--allow-path", folder) as server:
            check_real(folder, "http", f"http://127.0.0.1:{server.port}/mcp", token=server.token)


@case
def progress_cancellation_and_updates_over_stdio():
    node("long.mjs", "stdio", FAKE_SERVER, "stdio")


@case
def progress_cancellation_and_updates_over_http():
    with http_server(program=FAKE_SERVER) as server:
        node("long.mjs", "http", f"http://127.0.0.1:{server.port}/mcp")


def modern(*words, token=None, trace=None):
    """The client of 2.x, in all modes at once: each has a connection of its own."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for line in pool.map(lambda mode: node("modern.mjs", mode, *words, token=token, trace=trace), MODES):
            print(f"# {line.strip()}")


@case
def the_newer_client_over_stdio():
    modern("stdio", SCHEDSCOPE, "mcp", "--allow-path", str(TRACE.parent), trace=TRACE)


@case
def the_newer_client_over_http():
    with http_server("--allow-path", str(TRACE.parent)) as server:
        modern("http", f"http://127.0.0.1:{server.port}/mcp", token=server.token, trace=TRACE)


@case
def the_newer_client_with_what_takes_long_over_stdio():
    modern("stdio", FAKE_SERVER, "stdio")


@case
def the_newer_client_with_what_takes_long_over_http():
    with http_server(program=FAKE_SERVER) as server:
        modern("http", f"http://127.0.0.1:{server.port}/mcp")


def conformance(port, *words):
    """A run of the suite: its exit code and what it printed."""
    words = [NODE, SUITE, "server", "--url", f"http://127.0.0.1:{port}/mcp", *words]
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, timeout=170)
    return done.returncode, done.stdout


@case
def the_conformance_suite_fails_for_its_own_fixtures_alone_at_both_eras():
    with http_server(is_nobody=True) as server:  # which needs no token: the suite sends none
        for revision in REVISIONS:
            code, text = conformance(server.port, "--requirements", revision, "--expected-failures", f"fixtures-{revision}.yml")
            print("# " + revision + ": " + re.search(r"^Total: (.*)", text, re.M)[1])
            assert code == 0 and "all failures are expected" in text, text[-3000:]
            # What is run and not counted, by name.
            uncounted = {"2025-11-25": "server-session-lifecycle", "2026-07-28": "http-header-validation"}[revision]
            found = re.search(rf"^\S+ {uncounted}: (\d+) passed, (\d+) failed", text, re.M)
            assert found and int(found[1]) > 2 and found[2] == "0", (uncounted, text[-3000:])
        code, text = conformance(server.port, "--scenario", "server-sse-polling")
        assert code == 0 and " 0 failed" in text, text[-1500:]


@case
def no_name_of_the_suite_stands_in_the_sources():
    text = "".join(p.read_text() for p in (ROOT / "src").rglob("*.[ch]"))
    suite = SUITE.read_text()
    for name in ["test_simple_text", "test_reconnection", "test_prompt_with_arguments", "test://static-text"]:
        assert name in suite and name not in text, name
    assert "test://" not in text and "conformance" not in text


if __name__ == "__main__":
    reason = install()
    if reason and not os.environ.get("CI"):
        print(f"1..0 # SKIP {reason}")
        sys.exit(0)
    if reason:
        print(f"Bail out! {reason}")
        sys.exit(1)
    main()
