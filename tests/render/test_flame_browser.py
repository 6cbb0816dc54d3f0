#!/usr/bin/env python3
"""Flame graphs in a real browser: headless Chromium opens the file, clicks and types as people do, and reports what it sees.

A script is put at the end of a copy of each document; it dispatches events, and reports what it found. The first case
opens the SVG as a file. All others are frames of one page, because a browser takes its time to start. What was reported is
in the document that --dump-dom prints. Times are the browser's virtual ones, so a slow machine changes nothing.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import urllib.parse

DUMP = os.environ["PROFILE_DUMP"]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CASES = []

HELPERS = """
const svg = document.querySelector("svg"), all = [...svg.querySelectorAll("g.f")];
const frame = (name, n = 0) => all.filter((g) => g.dataset.n === name)[n];
const click = (e) => e.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
const hover = (e) => e.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: 300, clientY: 150 }));
const press = (key) => (document.activeElement || document.documentElement).dispatchEvent(
	new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const input = svg.querySelector("input");
const type = (text) => { input.value = text; input.dispatchEvent(new Event("input", { bubbles: true })); };
const width = (g) => g.style.display === "none" ? 0 : Math.round(g.querySelector("rect").getBoundingClientRect().width);
const seen = () => all.filter((g) => g.style.display !== "none").map((g) => g.dataset.n);
const text = (selector) => [...svg.querySelectorAll(selector)].map((e) => e.textContent);
const hits = () => all.filter((g) => g.classList.contains("hit")).map((g) => g.dataset.n);
const top = (g) => Math.round(g.getBoundingClientRect().top);
const result = {};
"""
TELL = """
if (window === parent)
	document.documentElement.appendChild(document.createElementNS("http://www.w3.org/1999/xhtml", "pre")).textContent =
		["", "REPORTED", encodeURIComponent(JSON.stringify([result])), "END"].join("|");
else
	window.reported = result;
"""
PAGE = """<!DOCTYPE html><html><body>FRAMES<script>
addEventListener("load", () => setTimeout(() => {
	const reported = [...document.querySelectorAll("iframe")].map((frame) => frame.contentWindow.reported || null);
	document.body.appendChild(document.createElement("pre")).textContent =
		["", "REPORTED", encodeURIComponent(JSON.stringify(reported)), "END"].join("|");
}, 1000));
</script></body></html>"""


class Skipped(Exception):
    pass


class Case:
    def __init__(self, check, words, script, kind, document):
        self.check, self.name, self.script, self.kind = check, check.__name__, script, kind
        self.words, self.document = words, document
        self.seen = None

    def made(self):
        """The document with the script at its end."""
        document = self.document() if self.document else dump(*self.words)
        # Frames of a page have their size only once all is loaded.
        code = f"addEventListener('load', () => setTimeout(() => {{ {HELPERS} try {{ {self.script} }} catch (e) {{ result.error = String(e.stack || e); }} {TELL} }}, 50));"
        if self.kind == "svg":
            return document.replace("</svg>", f"<script><![CDATA[{code}]]></script></svg>")
        return document.replace("</body>", f"<script>{code}</script></body>")


def case(*words, script, kind=None, document=None):
    def add(check):
        CASES.append(Case(check, words, script, kind or words[0], document))
        return check
    return add


def dump(*words):
    return subprocess.run([DUMP, *words], check=True, capture_output=True, timeout=60).stdout.decode()


def browse(folder, name):
    """What was reported, after a file of the folder was opened."""
    run = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--allow-file-access-from-files", f"--user-data-dir={folder}/profile", "--window-size=1200,700",
         "--virtual-time-budget=5000", "--dump-dom", folder.joinpath(name).as_uri()], capture_output=True, timeout=100)
    reported = re.search(r"\|REPORTED\|(.*?)\|END", run.stdout.decode(errors="replace"))
    assert reported, (run.returncode, run.stdout[-500:], run.stderr[-1500:])
    return json.loads(urllib.parse.unquote(html.unescape(reported[1])))


def browse_all():
    first, rest = CASES[0], CASES[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder, frames = pathlib.Path(folder), ""
        folder.joinpath("first.svg").write_text(first.made())
        for i, one in enumerate(rest):
            folder.joinpath(f"{i}.{one.kind}").write_text(one.made())
            frames += f'<iframe src="{i}.{one.kind}" width="1200" height="700" style="border: 0"></iframe>\n'
        folder.joinpath("page.html").write_text(PAGE.replace("FRAMES", frames))
        first.seen, = browse(folder, "first.svg")
        for one, seen in zip(rest, browse(folder, "page.html")):
            one.seen = seen


@case("svg", script="""
        result.before = [width(frame("all")), width(frame("serve")), width(frame("parse"))];
        click(frame("serve").querySelector("rect"));
        result.zoomed = [width(frame("serve")), width(frame("parse")), width(frame("web (100)")), width(frame("db (200)"))];
        result.seen = seen();
        result.crumbs = text(".crumb");
        click(svg.querySelectorAll(".crumb")[1]);
        result.back = [width(frame("web (100)")), width(frame("serve")), text(".crumb").length];
        press("Escape");
        result.reset = [width(frame("all")), width(frame("serve")), width(frame("parse"))];
        click(frame("parse"));
        press("Backspace");
        result.out = width(frame("serve"));
        press("/");
        result.focused = document.activeElement === input;
""")
def a_click_zooms_and_esc_resets(seen):
    whole = seen["before"][0]
    assert whole == 1180 and abs(seen["before"][1] - 0.65 * whole) <= 1 and abs(seen["before"][2] - 0.4 * whole) <= 1, seen
    assert seen["zoomed"][0] == whole and abs(seen["zoomed"][1] - whole * 40 / 65) <= 1, seen
    assert seen["zoomed"][2] == whole and seen["zoomed"][3] == 0, seen
    assert sorted(seen["seen"]) == sorted(["all", "web (100)", "main", "serve", "parse", "copy", "read", "sys_read"]), seen
    assert seen["crumbs"] == ["all", "web (100)", "main", "serve"], seen
    assert seen["back"][0] == whole and abs(seen["back"][1] - whole * 65 / 70) <= 1 and seen["back"][2] == 2, seen
    assert seen["reset"] == seen["before"] and seen["out"] == whole and seen["focused"], seen


@case("svg", script="""
        type("^(par|fi)");
        result.hits = hits(); result.found = text(".found")[0];
        type("read");
        result.read = [hits().length, text(".found")[0]];
        type("KERNEL");
        result.large = hits();
        type("kernel");
        result.module = hits();
        type("(");
        result.wrong = [text(".found")[0], svg.querySelector(".found").classList.contains("wrong")];
        type("parse"); click(frame("web (100)"));
        result.inView = text(".found")[0];
        press("Escape");
        result.after = [hits().length, text(".found")[0], input.value, svg.classList.contains("searching")];
""")
def search_is_a_regular_expression_and_shows_the_share(seen):
    # fib calls itself: three frames, 15 % once; with the 40 % of parse.
    assert sorted(seen["hits"]) == ["fib", "fib", "fib", "parse"] and seen["found"] == "55.0 % matched", seen
    assert seen["read"] == [3, "30.0 % matched"], seen  # sys_read lies within one of two reads
    assert seen["large"] == [] and seen["module"] == ["sys_read"], seen
    assert seen["wrong"] == ["not a regular expression", True], seen
    assert seen["inView"] == "40.0 % matched, 57.1 % of the view", seen
    assert seen["after"] == [0, "", "", False], seen


@case("svg", script="""
        hover(frame("parse").querySelector("rect"));
        result.tip = text(".tip text"); result.visible = svg.querySelector(".tip").getAttribute("visibility");
        svg.dispatchEvent(new MouseEvent("mouseleave"));
        result.gone = svg.querySelector(".tip").getAttribute("visibility");
        const walked = [];
        for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
            press(key); walked.push(text(".f.at text")[0]);
        }
        result.walked = walked;
        press("Enter");
        result.zoomed = width(frame("main", 1));
        const a = top(frame("all")), b = top(frame("parse"));
        press("i");
        result.turned = [a > b, top(frame("all")) < top(frame("parse"))];
""")
def the_pointer_and_arrows_show_what_a_frame_is(seen):
    assert seen["tip"] == ["parse", "400 samples, 40.0 % of all", "self 400 samples, 40.0 %", "web  src/main.c:21"], seen
    assert seen["visible"] == "visible" and seen["gone"] == "hidden", seen
    assert seen["walked"] == ["all", "web (100)", "main", "main", "main", "serve", "main"], seen
    assert seen["zoomed"] == 1180 and seen["turned"] == [True, True], seen


@case("svg", "story", "older", script="""
        const fill = (name) => getComputedStyle(frame(name).querySelector("rect")).fill.match(/\\d+/g).map(Number);
        result.grew = fill("parse"); result.shrank = fill("sys_read"); result.same = fill("fib");
        hover(frame("sys_read").querySelector("rect"));
        result.tip = text(".tip text");
""")
def a_difference_is_red_and_blue_with_numbers(seen):
    assert seen["grew"][0] > seen["grew"][2] + 80 and seen["shrank"][2] > seen["shrank"][0] + 80, seen
    assert max(seen["same"]) - min(seen["same"]) < 12, seen
    assert seen["tip"][2] == "total 20.0 %, was 50.0 %: \u221230.00 points", seen


@case("html", script="""
        const names = () => [...document.querySelectorAll("td.name")].map((e) => e.textContent);
        const choose = (value) => { const s = document.getElementById("process"); s.value = value; s.dispatchEvent(new Event("change")); };
        result.bySelf = names();
        click(document.querySelector('th[data-key="total"]'));
        result.byTotal = names().slice(0, 3);
        click(document.querySelector('th[data-key="name"]'));
        result.byName = names();
        click(document.querySelector('th[data-key="self"]'));
        result.processes = [...document.querySelectorAll("#process option")].map((e) => e.textContent);
        choose("0");
        result.ofDb = names(); result.db = [width(frame("db (200)")), width(frame("web (100)"))];
        result.dbFirst = document.querySelector("tbody tr").textContent;
        click(document.getElementById("reset"));
        result.all = [names().length, document.getElementById("process").value, width(frame("web (100)"))];
        click(document.querySelectorAll("tbody tr")[0]);
        result.clicked = hits();
        const a = top(frame("all")) > top(frame("parse"));
        click(document.getElementById("flip"));
        result.turned = [a, top(frame("all")) < top(frame("parse"))];
        const filter = document.getElementById("filter"); filter.value = "libc"; filter.dispatchEvent(new Event("input"));
        result.filtered = names();
        filter.focus(); filter.value = "";
        press("i");
        result.typed = top(frame("all")) < top(frame("parse"));
""")
def the_page_sorts_filters_and_chooses_a_process(seen):
    assert seen["bySelf"][:3] == ["parse", "sys_read", "fib"] and len(seen["bySelf"]) == 10, seen
    assert seen["byTotal"] == ["main", "serve", "parse"], seen
    assert seen["byName"] == sorted(seen["byName"]), seen
    assert seen["processes"] == ["all processes", "db (200)  30.0 %", "web (100)  70.0 %"], seen
    assert seen["ofDb"] == ["fib", "read", "[lib.so]", "main"], seen
    assert seen["dbFirst"].startswith("50.00 %150100.00 %") or seen["dbFirst"].startswith("50.00 %15050.00 %"), seen
    assert seen["db"][0] > 1000 and seen["db"][1] == 0, seen
    assert seen["all"][:2] == [10, ""] and 500 < seen["all"][2] < seen["db"][0], seen
    assert seen["clicked"] == ["parse"] and seen["turned"] == [True, True], seen
    assert seen["filtered"] == ["read"], seen
    assert seen["typed"], "a letter typed into the filter turned the graph over"


HOSTILE = """
        window.alert = () => { result.ran = true; };
        result.frames = all.length; result.scripts = document.querySelectorAll("script").length;
        result.name = all[2] ? all[2].dataset.n : null;
        press("/"); type("script"); hover(all[2]);
        result.found = text(".found")[0];
"""


def check_hostile(seen, scripts):
    assert seen["frames"] == 3 and seen["scripts"] == scripts and "ran" not in seen, seen
    assert seen["name"].startswith("<script>alert(1)</script>&\"'\ufffd") and seen["found"] == "100 % matched", seen


@case("svg", "hostile", script=HOSTILE)
def hostile_names_stay_names(seen):
    check_hostile(seen, 2)


@case("html", "hostile", script=HOSTILE)
def hostile_names_stay_names_in_the_page(seen):
    check_hostile(seen, 4)


NONE = "result.none = text('.none'); press('/'); press('ArrowUp'); press('Escape');"


@case("svg", "empty", script=NONE)
def no_samples_are_said(seen):
    assert seen["none"] == ["No samples were taken."], seen


@case("html", "empty", script=NONE + "result.more = document.querySelector('.more').textContent;")
def no_samples_are_said_in_the_page(seen):
    assert seen["none"] == ["No samples were taken."] and seen["more"] == "No function.", seen


def two_graphs():
    graph = dump("svg").split("?>", 1)[1]
    sized = "".join(f"<div style='width:{width}px'>{graph}</div>" for width in (800, 600))
    return f"<!DOCTYPE html><html><body>{sized}</body></html>"


@case(document=two_graphs, kind="html", script="""
        const second = document.querySelectorAll("svg")[1], of = (g) => Math.round(g.querySelector("rect").getBoundingClientRect().width);
        const other = [...second.querySelectorAll("g.f")];
        result.widths = [width(frame("all")), of(other.find((g) => g.dataset.n === "all"))];
        click(frame("serve"));
        result.zoomed = [width(frame("serve")), of(other.find((g) => g.dataset.n === "serve"))];
        press("i");
        result.quiet = svg.dataset.icicle;
        hover(frame("all")); press("i");
        result.turned = [svg.dataset.icicle, second.dataset.icicle];
""")
def graphs_within_another_page_keep_apart(seen):
    assert seen["widths"] == [780, 580] and seen["zoomed"] == [780, 377], seen
    assert seen["quiet"] == "0" and seen["turned"] == ["1", "0"], seen


def run_case(one):
    if not CHROMIUM:
        raise Skipped("no chromium")
    if one is CASES[0]:
        browse_all()
    assert one.seen is not None, "the document reported nothing"
    assert "error" not in one.seen, one.seen["error"]
    one.check(one.seen)


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, one in enumerate(CASES, 1):
        result, note = "ok", ""
        try:
            run_case(one)
        except Skipped as why:
            note = f" # SKIP {why}"
        except Exception:  # whatever goes wrong is this case's failure
            result = "not ok"
            failed += 1
            note = "".join("\n# " + line for line in traceback.format_exc().splitlines())
        print(f"{result} {number} - {one.name}{note}", flush=True)
    return failed != 0


sys.exit(main())
