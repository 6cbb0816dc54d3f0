#!/usr/bin/env python3
"""test_browser.py chromium|firefox: `schedscope report` in a real browser, headless.

Makes recordings and their reports, then hands them to cases.mjs, which opens them as people do, and whose TAP is this program's. Where the browser is
not installed, or npm cannot be reached, there is nothing to run, and the plan says so; under CI the latter is a failure.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from packages import ROOT, install, node, place
from samples import make_all

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(ROOT / "build/schedscope"))
PROGRAMS = {"chromium": ["chromium", "chromium-browser"], "firefox": ["firefox-esr", "firefox"]}
RUN_S = 600
IN_BOTH = ["own", "cgroups", "one"]  # what the cases open that Firefox has, too


def make_reports(folder, browser):
    """The page of each recording, and what cases.mjs has to know."""
    paths = {name: path for name, path in make_all(folder, SCHEDSCOPE).items() if browser == "chromium" or name in IN_BOTH}
    pages = {}
    for name, path in paths.items():
        # A name as people give it, which a URL has to escape.
        pages[name] = folder / ("a report #1 of 100% ünï?.html" if name == "one" else f"{name}.html")
        done = subprocess.run([SCHEDSCOPE, "report", path, "-o", pages[name]], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"report of {name}: {done.stderr}"
    pages["compared"] = folder / "compared.html"  # a small one with itself: nothing is proved to have changed
    words = [SCHEDSCOPE, "report", paths["cgroups"], "--compare", paths["cgroups"], "-o", pages["compared"]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"report that compares: {done.stderr}"
    copies = {}
    for name, page in pages.items():
        copies[name] = folder / f"{name}-without-scripts.html"
        text = page.read_text(encoding="utf-8")
        copies[name].write_text(re.sub("script-src [^;\"]*", "script-src 'none'", text, count=1), encoding="utf-8")
    known = {"schedscope": SCHEDSCOPE, "source": str(ROOT), "recordings": {name: str(path) for name, path in paths.items()},
             "pages": {name: page.as_uri() for name, page in pages.items()},
             "withoutScripts": {name: page.as_uri() for name, page in copies.items()}}
    (folder / "known.json").write_text(json.dumps(known), encoding="utf-8")


def main():
    """Command line."""
    browser, packages = sys.argv[1], place()
    if not any(map(shutil.which, PROGRAMS[browser])):
        print(f"1..0 # SKIP no {browser}")
        return 0
    reason = install(packages)
    if reason:
        print(f"Bail out! {reason}" if os.environ.get("CI") else f"1..0 # SKIP {reason}")
        return int(bool(os.environ.get("CI")))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        make_reports(folder, browser)
        words = [node(packages), packages / "run.mjs", browser, folder / "known.json", *sys.argv[2:]]
        return subprocess.run(words, timeout=RUN_S, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
