#!/usr/bin/env python3
"""The command report, on a trace whose every number is known by heart: what it says, what it writes, what it leaves alone. Prints TAP."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests" / "trace"), str(SOURCE / "tests")]
from encode import own  # noqa: E402
from scenarios import Scenario, Task  # noqa: E402
from tap import run_cases  # noqa: E402

MS = 1_000_000
CASES = []
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name)
FILE = DIR / "late.pftrace"
VOID = {"meta", "br", "hr", "img", "input", "link"}


def story(name="web", wait_ms=10):
    """hog keeps CPU 0 while web, woken by db on CPU 1, waits for it."""
    s = Scenario("late", {0: 0, 1: 0}, [Task(100, 100, "hog"), Task(200, 200, name), Task(300, 300, "db")])
    s.last_cpu[200] = 0
    s.switch(0, 0, 100)
    s.switch(1 * MS, 1, 300)
    s.wake(2 * MS, 1, 200)
    s.switch(4 * MS, 1, 0, "S")
    s.switch((2 + wait_ms) * MS, 0, 200, "R+")
    s.switch((5 + wait_ms) * MS, 0, 100, "S")
    s.switch((10 + wait_ms) * MS, 0, 0, "S")
    return own(s, None)


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=60, cwd=DIR, **kwargs)
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def made(*args):
    """The page, and what was said."""
    path = DIR / "made.html"
    result = run("report", *args, "-o", path)
    assert result.returncode == 0 and not result.stdout, result.stderr
    return path.read_text(encoding="utf-8"), result.stderr.decode()


def refused(*args, code):
    result = run(*args)
    assert result.returncode == code and not result.stdout, (result.returncode, result.stderr)
    lines = result.stderr.decode().splitlines()
    assert lines[0].startswith("schedscope: "), lines
    return lines[0]


def document(page):
    return json.loads(re.search(r'id="report-json">(.*?)</script>', page, re.S)[1])


def analyze(*args):
    return json.loads(run("analyze", FILE, *args, "--json").stdout)


class Checker(html.parser.HTMLParser):
    """Elements are closed in order; ids are unique; nothing has a style or a handler of its own."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.cells = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            assert name != "style" and not name.startswith("on"), (tag, name)
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value)
            if name == "href":
                assert value.startswith("#"), value
                self.links.append(value[1:])
        self.cells.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)


def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert not checker.open, checker.open
    for link in checker.links:
        assert link in checker.ids, link
    return checker


@case
def the_first_sentence_is_that_of_analyze():
    page, said = made(FILE)
    bottleneck = analyze("scheduling_bottlenecks")["bottlenecks"][0]
    assert document(page)["verdict"][0]["sentence"] == bottleneck["description"]
    assert said.startswith(f"{DIR / 'made.html'}: ") and said.endswith(f"; {bottleneck['description']}\n"), said
    assert f"{len(page.encode()) / 1e3:.1f} kB" in said, said


@case
def the_page_is_whole_and_its_links_lead_somewhere():
    checked(made(FILE)[0])


@case
def the_policy_has_the_hashes_of_what_is_there():
    page = made(FILE)[0]
    for begin, rule in (('<script type="module">', "script-src"), ("<style>", "style-src")):
        text = page.split(begin)[1].split("</" + begin[1:].split()[0].rstrip(">") + ">")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in page, rule
    assert page.count("<style") == 1 and "http:" not in re.sub(r"http://www.w3.org/[\w/]*", "", page.split("<main>")[1].split("</main>")[0])


@case
def numbers_of_tables_are_those_of_the_analyses():
    rows = {}
    tid = None
    for tag, attrs in checked(made(FILE)[0]).cells:
        if tag == "tr":
            tid = attrs.get("data-tid")
        if tag == "td" and tid and "data-analysis" in attrs:
            rows.setdefault(tid, {})[attrs["data-key"]] = attrs["data-value"]
    for row in analyze("process_runtime", "--by", "thread")["processes"]:
        for key in ("total_runtime_ns", "num_switches", "cpu_time_percent"):
            assert float(rows[str(row["pid"])][key]) == row[key], (row, key)
    for row in analyze("blame", "--by", "thread")["victims"]:
        for key in ("waits", "wait_ns", "max_wait_ns"):
            assert int(rows[str(row["pid"])][key]) == row[key], (row, key)


@case
def the_reports_in_the_document_are_unchanged():
    doc = document(made(FILE)[0])
    assert set(doc["commands"]) == set(doc["analyses"])
    for key, command in doc["commands"].items():
        words = command.split()
        assert words[:2] == ["analyze", "FILE"], command
        again = json.loads(run("analyze", FILE, *words[2:], "--json").stdout)
        assert again == doc["analyses"][key], key
    explained = json.loads(run("explain", FILE, "--tid", "200", "-n", "1", "--json").stdout)["waits"][0]
    wait = next(wait for wait in doc["waits"] if wait["tid"] == 200)
    assert {**wait, **explained} == wait
    assert wait["to_ns"] - wait["from_ns"] == 10 * MS


@case
def filters_hold_for_all_of_it():
    page = made(FILE, "--from", "1ms", "--to", "8ms", "-c", "web", "--title", "A <title>")[0]
    doc = document(page)
    assert doc["filters"] == {"from_ns": MS, "to_ns": 8 * MS, "comm": "web", "cgroup": None, "pid": None, "tid": None, "cpu": None}
    assert doc["command"] == "schedscope report late.pftrace --from 1ms --to 8ms -c web", doc["command"]
    assert "<title>A &lt;title&gt;</title>" in page and doc["title"] == "A <title>"
    assert [row["comm"] for row in doc["tasks"]] == ["web"]
    assert doc["analyses"]["blame"] == json.loads(run("analyze", FILE, "blame", "--by", "comm", "-n", "20", "--from", "1ms", "--to", "8ms",
                                                      "-c", "web", "--json").stdout)


@case
def hostile_names_stay_text():
    path = DIR / "hostile.pftrace"
    path.write_bytes(story("</script><i>"))
    page = made(path)[0]
    checked(page)
    assert "<i>" not in page and "&lt;/script&gt;&lt;i&gt;" in page
    assert document(page)["waits"][0]["comm"] == "</script><i>"


@case
def only_reports_are_replaced():
    other = DIR / "notes.html"
    other.write_text("mine")
    assert "is not a report, and is left as it is" in refused("report", FILE, "-o", other, code=1)
    assert other.read_text() == "mine"
    assert run("report", FILE, "-o", other, "--force").returncode == 0
    assert other.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("report", FILE, "-o", other).returncode == 0
    link = DIR / "link.html"
    link.symlink_to(other)
    before = other.read_bytes()
    assert "is a link" in refused("report", FILE, "-o", link, code=1)
    assert other.read_bytes() == before


@case
def a_name_is_chosen_and_a_pipe_is_fine():
    assert run("report", FILE).returncode == 0
    page = (DIR / "report.html").read_bytes()
    out = run("report", FILE, "-o", "-")
    assert out.returncode == 0 and out.stdout == page
    assert out.stderr.startswith(b"standard output: ") and b"kB" not in out.stderr, out.stderr  # a pipe counts nothing
    to_file = DIR / "stdout.html"
    with to_file.open("wb") as stream:
        done = subprocess.run([SCHEDSCOPE, "report", FILE, "-o", "-"], stdout=stream, stderr=subprocess.PIPE, cwd=DIR, timeout=60, check=True)
    assert f"standard output: {len(page) / 1e3:.1f} kB; ".encode() in done.stderr, done.stderr


@case
def what_cannot_be_done_is_said_in_a_sentence():
    assert "no file is named" in refused("report", code=2)
    assert "one file at a time" in refused("report", FILE, FILE, code=2)
    assert "is not a time" in refused("report", FILE, "--from", "soon", code=2)
    assert "cannot open" in refused("report", DIR / "nothing", code=1)
    assert "cannot write" in refused("report", FILE, "-o", DIR / "no" / "where.html", code=1)
    assert not list(DIR.glob("*.html.*"))


@case
def recordings_are_compared():
    before = DIR / "before.pftrace"
    before.write_bytes(story(wait_ms=5))
    page = made(FILE, "--compare", before)[0]
    checked(page)
    ids = re.findall(r'<section id="(\w+)"', page)
    assert ids[:2] == ["verdict", "compare"], ids
    assert "compare" in document(page)


def main():
    FILE.write_bytes(story())
    code = run_cases(CASES)
    FOLDER.cleanup()
    return code


sys.exit(main())
