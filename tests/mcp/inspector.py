#!/usr/bin/env python3
"""inspector.py [FOLDER]: the inspector of the protocol, without a browser, against the server: each era over each transport.

npm puts it into FOLDER, or build/tests/mcp/inspector. Not part of the tests: it fetches much.
"""
import json
import os
import pathlib
import subprocess
import sys

from client import SCHEDSCOPE

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("SCHEDSCOPE", SCHEDSCOPE)
os.environ.setdefault("FAKE_SERVER", str(ROOT / "build/tests/mcp/fake_server"))
from http_client import http_server  # noqa: E402

WANTED = {"@modelcontextprotocol/inspector": "2.12.0", "node": "22"}
# Method and words; the key that the result must have.
CALLS = [(["tools/list"], "tools"), (["resources/list"], "resources"), (["prompts/list"], "prompts"),
         (["tools/call", "--tool-name", "get_topology"], "structuredContent"),
         (["resources/read", "--uri", "stats://system/memory"], "contents"),
         (["prompts/get", "--prompt-name", "summarize_system"], "messages")]
ERAS = ["legacy", "auto", "modern"]


def install(folder):
    """Fetches what is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"private": True, "dependencies": WANTED})
    if not (folder / "node_modules").exists() or (folder / "package.json").read_text() != text:
        (folder / "package.json").write_text(text)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], cwd=folder, check=True,
                       timeout=600)


def inspect(folder, era, target, words):
    """What the inspector prints of a result, or why there is none."""
    env = {**os.environ, "PATH": f"{folder / 'node_modules/node/bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["npx", "@modelcontextprotocol/inspector", "--cli", "-q", *target, "--protocol-era", era, "--method", *words],
                          cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
    try:
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr
    except ValueError:
        return done.stdout


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/tests/mcp/inspector"
    install(folder.resolve())
    nr, bad = 0, []
    with http_server(is_nobody=True) as server:  # which needs no token
        for name, target in ("stdio", [SCHEDSCOPE, "mcp"]), ("http", [f"http://127.0.0.1:{server.port}/mcp"]):
            for era in ERAS:
                for words, key in CALLS:
                    got = inspect(folder.resolve(), era, target, words)
                    nr += 1
                    if not isinstance(got, dict) or not got.get(key):
                        bad.append((name, era, words[0], str(got)[:300]))
    for row in bad:
        print(*row)
    print(f"{nr - len(bad)} of {nr} calls are answered")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
