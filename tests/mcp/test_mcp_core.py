#!/usr/bin/env python3
"""The core tools, by a client: what they cost, what they lead to, whose traces they see.

Prints TAP.
"""
import json
import subprocess
import sys

from trace_client import SCHEDSCOPE, Refused, refusal
from trace_files import DATA, DIR, MS, Scenario, Task, load_late, own, real, run_cases, start

CASES = []
CORE = {"record", "load", "list", "summary", "explain", "blame", "analyze", "query", "timeline", "diff", "profile", "live", "doctor",
        "report"}
LIST_BYTES = 20000  # 5,000 tokens
LEAD_BYTES = 4000   # 1,000 tokens
BIG = 8192
RECORDINGS = ("e-guest-scx-vtime", "guest-d2-layers", "d-host-deflate", "c-guest-idle", "host-b")


def case(function):
    CASES.append(function)
    return function


def packed(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@case
def the_default_list_is_short():
    with start() as c:
        listed = c.request("tools/list")
        names = {tool["name"] for tool in listed["tools"]}
        assert names <= CORE and len(names) <= 14, names ^ CORE
        assert "nextCursor" not in listed and packed(listed) <= LIST_BYTES, packed(listed)
        for tool in listed["tools"]:
            assert "Example: {" in tool["description"], tool["name"]
            example = tool["description"].rsplit("Example: ", 1)[1].rstrip(".")
            assert set(json.loads(example)) <= set(tool["inputSchema"]["properties"]), example
        assert len(c.tools()) > 60 and CORE & set(c.tools("trace")) == set()


@case
def answers_that_lead_are_short_and_ranked():
    nr = 0
    for name in RECORDINGS:
        with start() as c:
            path = next(DATA.glob(f"*/{name}.p*.gz"))
            (DIR / path.name).write_bytes(path.read_bytes())
            for got in (c.call("load", file_path=path.name, trace_id="t"), c.call("summary")):
                assert packed(got) <= LEAD_BYTES, (name, packed(got))
                assert not {"capabilities", "detail", "file_path"} & set(got), got.keys()
                said = [f["what"] for f in got["findings"]]
                assert ("verdict" in got) == (not said)
                nr += len(said)
            every = c.call("analyze", type="scheduling_bottlenecks", limit=100)["bottlenecks"]
            ranked = [b["description"] for b in every]
            assert [ranked.index(what) for what in said] == sorted(map(ranked.index, said)) and ranked[:1] == said[:1], (said, ranked)
            assert {f["cause"] for f in got["findings"]} == {b["cause"] for b in every}, (name, every)
            for finding in got["findings"]:
                assert finding["confidence"] in ("proved", "likely", "unknown") and finding["cause"] and finding["what"], finding
                answer = c.call(finding["next"]["tool"], **finding["next"]["arguments"])
                assert c.last_bytes < BIG and answer["trace_id"] == "t", finding
            assert "capabilities" in c.call("summary", detail=True)["detail"]
    assert nr > 20, nr


@case
def the_first_finding_of_a_known_story():
    with start() as c:
        load_late(c)
        got = c.call("summary")["findings"]
        assert [(f["cause"], f["evidence"]["lost_ms"], f["evidence"]["tids"]) for f in got] == [
            ("wasted_cores", 10.0, [200]), ("wasted_cores", 3.0, [100])], got
        assert got[0]["next"] == {"tool": "explain", "arguments": {"trace_id": "late", "tid": 200,
                                                                  "at_time_ns": got[0]["next"]["arguments"]["at_time_ns"]}}
        why = c.call("explain", **got[0]["next"]["arguments"])["waits"][0]
        assert why["wait_ns"] == 10 * MS and any("behind hog" in s for s in why["sentences"]), why
        assert "parts" not in why and "parts" in c.call("explain", detail=True, limit=1)["waits"][0]
        assert [f["evidence"]["tids"] for f in c.call("summary", comm="hog")["findings"]] == [[100]]
        assert len(c.call("summary", limit=1)["findings"]) == 1 and c.call("summary", limit=1)["more_findings"] == 1


def crowd():
    """Ten wait 100 ms and more behind hog, while the other CPU is busy; then web waits 5 ms behind it, while that CPU is idle."""
    s = Scenario("crowd", {0: 0, 1: 0}, [Task(100, 100, "hog"), Task(101, 101, "busy"), Task(200, 200, "web")] +
                 [Task(300 + i, 300 + i, f"v{i}") for i in range(10)])
    s.switch(0, 0, 100)
    s.switch(0, 1, 101)
    for i in range(10):
        s.last_cpu[300 + i] = 0
        s.wake(1 * MS, 1, 300 + i)
    for i in range(10):
        s.switch((100 + i) * MS, 0, 300 + i, "R+" if i == 0 else "S")
    s.switch(110 * MS, 0, 100, "S")
    s.switch(111 * MS, 1, 0, "S")
    s.last_cpu[200] = 0
    s.wake(130 * MS, 0, 200)
    s.switch(135 * MS, 0, 200, "R+")
    s.switch(140 * MS, 0, 0, "S")
    return own(s)


@case
def many_victims_of_one_cause_do_not_hide_another():
    (DIR / "crowd.pftrace").write_bytes(crowd())
    with start() as c:
        got = c.call("load", file_path="crowd.pftrace")
        shown = [f["cause"] for f in got["findings"]]
        assert shown.count("neighbour") >= 5 and shown[-1] == "wasted_cores" and got["more_findings"] >= 3, shown


@case
def core_tools_say_what_the_others_say():
    with start() as c:
        real(c, "d-host-deflate")
        for kind in ("process_runtime", "wakeup_latency", "runqueue_depth", "scheduling_bottlenecks"):
            new, old = c.call("analyze", type=kind, limit=3), c.call({
                "process_runtime": "analyze_process_runtime", "wakeup_latency": "analyze_wakeup_latency",
                "runqueue_depth": "analyze_runqueue_depth", "scheduling_bottlenecks": "find_scheduling_bottlenecks"}[kind], limit=3)
            del new["analysis_time_ms"], old["analysis_time_ms"]
            assert new == old, kind
        assert c.call("blame")["victims"] == c.call("analyze_blame")["victims"]
        assert c.call("timeline", cpu=1, limit=5)["events"] == c.call("get_cpu_timeline", cpu=1, limit=5)["events"]
        task = c.call("explain", what="task", comm="stress-ng-cpu", limit=2)
        assert len(task["states"]) == 2 and len(task["waiting"]["waits"]) == 2 and task["waiting"]["in_all"], task
        for kind in c.tools("core")["analyze"]["inputSchema"]["properties"]["type"]["enum"]:
            try:
                c.call("analyze", type=kind)
                assert c.last_bytes < BIG, (kind, c.last_bytes)
            except Refused as why:
                assert "which this trace does not have" in str(why), (kind, why)


@case
def two_traces_are_compared_and_listed_by_age():
    with start() as c:
        assert "no trace is loaded" in refusal(c, "diff")
        real(c, "e-guest-eevdf")
        assert "not so many" in refusal(c, "diff")
        real(c, "e-guest-scx-vtime")
        assert c.call("diff") == c.call("diff", trace_id_a="e-guest-eevdf", trace_id_b="e-guest-scx-vtime")
        assert [t["trace_id"] for t in c.call("list")["traces"]] == ["e-guest-scx-vtime", "e-guest-eevdf"]
        assert c.call("list", unload="e-guest-scx-vtime")["total"] == 1
        assert c.call("summary")["trace_id"] == "e-guest-eevdf"


@case
def a_report_is_a_file():
    with start() as c:
        load_late(c)
        got = c.call("report", output_path="late.md")
        text = (DIR / "late.md").read_text()
        assert got["output_path"] == str(DIR / "late.md") and got["bytes"] == len(text.encode())
        for words in ("**Verdict:** web (200) waited 10.0ms", "cause: wasted\\_cores", "confidence: proved", "evidence: lost 10.0ms; 1 waits; threads 200",
                      "## Who kept whom waiting", "| web | 10.0ms |", "| hog | 1 | 17.0ms | 85.0 % |", "- 0 events lost"):
            assert words in text, (words, text)
        c.call("report", output_path="late.json", format="json")
        assert json.loads((DIR / "late.json").read_text())["blame"]["victims"][0]["comm"] == "web"
        c.call("report", output_path="late.html", format="html")
        page = (DIR / "late.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>") and page.endswith("</html>\n") and '<section id="verdict"' in page
        verdict = json.loads(page.split('id="report-json">')[1].split("</script>")[0])["verdict"][0]["sentence"]
        assert verdict.startswith("web (200) waited 10.0ms"), verdict
        assert str(DIR) in refusal(c, "report", output_path="/etc/x.md")
        real(c, "e-guest-eevdf")
        c.call("report", output_path="both.html", format="html", trace_id="e-guest-eevdf", after_trace_id="late")
        both = json.loads((DIR / "both.html").read_text(encoding="utf-8").split('id="report-json">')[1].split("</script>")[0])
        assert [len(both["compare"][side]) for side in ("before", "after")] == [1, 1], both["compare"].keys()
        assert "only a page" in refusal(c, "report", output_path="both.md", trace_id="e-guest-eevdf", after_trace_id="late")
        assert "the same" in refusal(c, "report", output_path="both.html", format="html", trace_id="late", after_trace_id="late")
    with start("--read-only") as c:
        assert not {"record", "report", "profile"} & set(c.tools("core")) and "summary" in c.tools("core")


@case
def doctor_says_what_the_command_says():
    """Though the server has given up the rights with which the command looks."""
    said = json.loads(subprocess.run([SCHEDSCOPE, "doctor", "--json"], capture_output=True, check=True).stdout)
    checks = [{k: v for k, v in row.items() if v is not None} for row in said["checks"]]
    with start() as c:
        assert c.call("doctor", detail=True)["checks"] == checks
        short = c.call("doctor")
        assert short["checks"] == [row for row in checks if row["state"] != "ok"] and short["kernel"] == said["kernel"]
        assert short["ok"] == [row["check"] for row in checks if row["state"] == "ok"]


@case
def wrong_arguments_are_refused_in_one_sentence():
    with start() as c:
        load_late(c)
        wrong = [("summary", {"pidd": 1}), ("summary", {"limit": 0}), ("summary", {"limit": 1.5}), ("explain", {"what": "nap"}),
                 ("explain", {"what": "task"}), ("explain", {"limit": 21}), ("timeline", {}), ("timeline", {"pid": 100, "cpu": 0}),
                 ("analyze", {"type": "irq_analysis", "comm": "x"}), ("analyze", {"type": "outliers", "category": "nonsense"}),
                 ("record", {"duration_secs": -1}), ("record", {"duration_secs": 1e9}), ("record", {"events": ["disk"]}),
                 ("profile", {"duration_secs": -1}), ("profile", {"duration_secs": 0}), ("diff", {"trace_id_a": "late", "trace_id_b": "late"}),
                 ("report", {"output_path": "x", "format": "pdf"}), ("list", {"unload": "nope"}), ("load", {"file_path": "nope.pftrace"})]
        for tool, args in wrong:
            why = refusal(c, tool, **args)
            assert 10 < len(why) < 400 and "\n" not in why, (tool, args, why)


if __name__ == "__main__":
    sys.exit(run_cases(CASES))
