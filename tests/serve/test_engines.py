#!/usr/bin/env python3
"""Real engines read `serve`: Prometheus, with and without native histograms, VictoriaMetrics, node_exporter, promtool.

All run at the same time on free ports of the loopback, with several daemons over recordings. Those that are not installed are
skipped. What they add up is what DuckDB adds up of the Parquet files of the same recordings. Prints TAP.
"""
import bisect
import functools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse

import fleet
from engine import PROMETHEUS, Engine, dashboard, expressions, scrape_config
from serve import SOURCE, WAIT_S, Daemon, Skip, buckets, case, expect, folder, main, value, wait_for

NR = int(os.environ.get("SERVE_INSTANCES", "6"))
SOAK_S = float(os.environ.get("SERVE_SOAK_S", "0"))  # for how long all of them are scraped before they are asked
QUANTILES = (0.5, 0.9, 0.99)
SCRAPE_S = max(1, NR // 5)  # pages with all buckets are large, and three engines read each
FOLDER = folder()
HOSTS = fleet.make(FOLDER.name, NR)
TRACES = list(HOSTS.values())
DELAY = "schedscope_sched_delay_seconds"


class World:
    """Daemons and engines, started together and once."""
    daemons, engines, missing, started = [], {}, {}, False

    @classmethod
    def start(cls):
        if cls.started:
            return
        cls.started = True
        cls.daemons = [Daemon("--speed", "0", "--buckets", "all", path) for path in TRACES]
        cls.textfile = folder()
        os.chmod(cls.textfile.name, 0o777)
        cls.file_daemon = Daemon("--speed", "0", "--textfile", cls.textfile.name, "--every", "1s", TRACES[0], listen="off")
        config = scrape_config(cls.daemons, SCRAPE_S)
        cls.add("prometheus", "prometheus", PROMETHEUS + ["--enable-feature=exemplar-storage"], "/-/ready", config)
        cls.add("native", "prometheus", PROMETHEUS + ["--enable-feature=native-histograms,exemplar-storage"], "/-/ready", config)
        cls.add("victoria", "victoria-metrics", ["-promscrape.config={dir}/config.yml", "-storageDataPath={dir}/data",
                                                 "-httpListenAddr=127.0.0.1:{port}", "-search.latencyOffset=0s",
                                                 "-memory.allowedBytes=64MB"], "/health", config)
        cls.add("node", "prometheus-node-exporter", ["--collector.disable-defaults", "--collector.textfile",
                                                     f"--collector.textfile.directory={cls.textfile.name}",
                                                     "--web.listen-address=127.0.0.1:{port}"], "/metrics")

    @classmethod
    def add(cls, name, *words):
        try:
            cls.engines[name] = Engine(*words)
        except Skip as why:
            cls.missing[name] = why

    @classmethod
    def engine(cls, name):
        cls.start()
        if name in cls.missing:
            raise cls.missing[name]
        cls.engines[name].wait()
        return cls.engines[name]

    @classmethod
    def stop(cls):
        for engine in cls.engines.values():
            engine.stop()
        for daemon in cls.daemons + ([cls.file_daemon] if cls.started else []):
            daemon.process.kill()
            daemon.process.wait()


def instance(daemon):
    return f'instance="127.0.0.1:{daemon.port}"'


def all_are_up(engine):
    wait_for("all instances", lambda: len(engine.query("up == 1")) == NR, WAIT_S + 2 * SCRAPE_S)


def percentile(daemon, cause, q):
    """The slot of the percentile, by its bounds, from our own page: nearest rank."""
    rows = buckets(daemon.samples(), DELAY, cause=cause)
    rank = max(1, math.ceil(q * rows[-1][1]))
    for i, (le, count) in enumerate(rows):
        if count >= rank:
            return rows[i - 1][0] if i else 0.0, le
    raise AssertionError(f"{rows}")


@case
def promtool_finds_nothing_to_complain_about():
    World.start()
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    for daemon in World.daemons[:2]:
        done = subprocess.run(["promtool", "check", "metrics"], input=daemon.page(), capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and not done.stdout + done.stderr, f"{done.stdout}{done.stderr}")


# The histograms that both sides have: the label that splits them, and their bounds.
SPLIT = {"sched_delay": ("cause", fleet.BOUNDS_NS), "slice": ("end", fleet.BOUNDS_NS), "sleep": ("state", fleet.BOUNDS_NS),
         "cgroup_sched_delay": ("cgroup", fleet.FEW_NS)}


@functools.lru_cache(maxsize=None)
def parquet():
    World.start()
    return fleet.ask_duckdb(FOLDER.name, HOSTS)


def ns_of(seconds):
    return round(float(seconds) * 1e9)


def slots_by_duckdb(metric):
    """{(label, bound in ns): durations below it}, of labels that have any."""
    bounds = SPLIT[metric][1]
    return {(label, int(ns)): int(nr) for name, label, ns, nr in parquet()["buckets"] if name == metric and int(ns) in bounds}


def slots_by_promql(engine, metric):
    label = SPLIT[metric][0]
    rows = engine.query(f'sum by ({label}, le) (schedscope_{metric}_seconds_bucket{{le!="+Inf"}})')
    return {(labels[label], ns_of(labels["le"])): nr for labels, nr in rows}


def slots_by_pages(metric):
    out = {}
    for daemon in World.daemons:
        for (name, pairs), nr in daemon.samples().items():
            labels = dict(pairs)
            if name == f"schedscope_{metric}_seconds_bucket" and labels["le"] != "+Inf":
                key = labels[SPLIT[metric][0]], ns_of(labels["le"])
                out[key] = out.get(key, 0) + nr
    return out


def without_empty(slots):
    """A cause that no wait had is there with 0 in metrics, and not at all in tables."""
    used = {label for (label, _), nr in slots.items() if nr}
    return {key: nr for key, nr in slots.items() if key[0] in used}


def same(what, got, wanted):
    off = [(key, got.get(key), wanted.get(key)) for key in sorted(set(got) | set(wanted)) if got.get(key) != wanted.get(key)]
    expect(wanted and not off, f"{what}: {len(off)} of {len(wanted)} differ, such as {off[:3]}")


@case
def slots_of_the_fleet_are_those_of_its_parquet_files():
    """Each slot of each histogram, by its label: added up over the pages, by PromQL, and by DuckDB over the rows."""
    expect(parquet()["hosts"] == [[str(NR)]], f"{parquet()['hosts']}")  # while the engines start
    engine = World.engine("prometheus")
    all_are_up(engine)
    for metric in SPLIT:
        wanted = without_empty(slots_by_duckdb(metric))
        same(f"{metric}: PromQL and DuckDB", without_empty(slots_by_promql(engine, metric)), wanted)
        same(f"{metric}: pages and DuckDB", without_empty(slots_by_pages(metric)), wanted)


@case
def counts_and_sums_of_the_fleet_are_those_of_its_parquet_files():
    """To the nanosecond."""
    engine = World.engine("prometheus")
    totals = parquet()["totals"]
    all_are_up(engine)
    for metric, (label, _) in SPLIT.items():
        for suffix, column, scale in (("count", 2, 1), ("sum", 3, 1e9)):
            rows = engine.query(f"sum by ({label}) (schedscope_{metric}_seconds_{suffix}) > 0")
            same(f"{metric}_{suffix}", {labels[label]: round(v * scale) for labels, v in rows},
                 {row[1]: int(row[column]) for row in totals if row[0] == metric})
    expect(engine.query("sum(schedscope_migrations_total)")[0][1] == int(parquet()["migrations"][0][0]), "migrations")


def slot_of(ns):
    at = bisect.bisect_right(fleet.BOUNDS_NS, ns)
    return ([0] + fleet.BOUNDS_NS)[at], (fleet.BOUNDS_NS + [math.inf])[at]


@case
def quantiles_of_the_fleet_are_in_the_slot_of_the_exact_ones():
    engine = World.engine("prometheus")
    rows = parquet()["quantiles"]
    all_are_up(engine)
    for cause, *exact in rows:
        for q, ns in zip(fleet.QUANTILES, exact):
            (_, got), = engine.query(f'histogram_quantile({q}, sum by (le) ({DELAY}_bucket{{cause=~"{cause}"}}))')
            low, high = slot_of(int(ns))
            expect(low - 1 <= got * 1e9 <= high + 1, f"{cause} {q}: {got * 1e9} ns is not in [{low}, {high}], where {ns} is")


@case
def prometheus_scrapes_all_instances():
    engine = World.engine("prometheus")
    all_are_up(engine)
    time.sleep(SOAK_S)
    rows = engine.query(f"min_over_time(up[{int(SOAK_S) + 1}s])")
    expect(len(rows) == NR and all(v == 1 for _, v in rows[:NR]) or not SOAK_S, f"a scrape failed within {SOAK_S} s: {rows}")
    targets = json.loads(engine.get("/api/v1/targets"))["data"]["activeTargets"]
    expect(all(target["health"] == "up" and not target["lastError"] for target in targets), f"{targets}")


@case
def histogram_quantile_is_our_percentile_within_a_slot():
    engine = World.engine("prometheus")
    all_are_up(engine)
    for daemon in World.daemons[:2]:
        for cause in ("woken", "preempted"):
            for q in QUANTILES:
                rows = engine.query(f'histogram_quantile({q}, {DELAY}_bucket{{cause="{cause}",{instance(daemon)}}})')
                low, high = percentile(daemon, cause, q)
                expect(len(rows) == 1 and low - 1e-12 <= rows[0][1] <= high + 1e-12, f"{cause} {q}: {rows} is not in [{low}, {high}]")


@case
def sums_over_instances_are_those_of_the_pages():
    engine = World.engine("prometheus")
    all_are_up(engine)
    for name in (f"{DELAY}_count", f"{DELAY}_sum", "schedscope_migrations_total"):
        pages = sum(v for daemon in World.daemons for (sample, _), v in daemon.samples().items() if sample == name)
        rows = engine.query(f"sum({name})")
        expect(abs(rows[0][1] - pages) <= 1e-9 * pages, f"{name}: {rows[0][1]} and {pages}")


@case
def exemplars_come_back():
    engine = World.engine("prometheus")
    all_are_up(engine)
    now = time.time()
    words = urllib.parse.urlencode({"query": f"{DELAY}_bucket", "start": now - 600, "end": now + 60})
    found = wait_for("exemplars", lambda: json.loads(engine.get("/api/v1/query_exemplars?" + words))["data"])
    labels = found[0]["exemplars"][0]["labels"]
    expect(set(labels) == {"comm", "tid", "cpu"} and labels["tid"].isdigit(), f"{labels}")


@case
def native_histograms_agree():
    engine = World.engine("native")
    all_are_up(engine)
    for daemon in World.daemons[:2]:
        which = f'{{cause="woken",{instance(daemon)}}}'
        count = wait_for("a native histogram", lambda w=which: engine.query(f"histogram_count({DELAY}{w})"))
        expect(count[0][1] == value(daemon.samples(), f"{DELAY}_count", cause="woken"), f"{count}")
        total = engine.query(f"histogram_sum({DELAY}{which})")
        expect(abs(total[0][1] - value(daemon.samples(), f"{DELAY}_sum", cause="woken")) < 1e-9, f"{total}")
        for q in QUANTILES:
            rows = engine.query(f"histogram_quantile({q}, {DELAY}{which})")
            low, high = percentile(daemon, "woken", q)
            width = 2 ** (1 / 8)  # of a native bucket
            expect(low / width <= rows[0][1] <= high * width, f"{q}: {rows} is not in [{low}, {high}], give or take a bucket")


@case
def victoria_metrics_scrapes_too():
    engine = World.engine("victoria")
    all_are_up(engine)
    pages = sum(v for daemon in World.daemons for (sample, _), v in daemon.samples().items() if sample == f"{DELAY}_count")
    rows = wait_for("the sums", lambda: [r for r in engine.query(f"sum({DELAY}_count)") if r[1] == pages])
    expect(rows, "no sums")


@case
def node_exporter_passes_the_file_on():
    engine = World.engine("node")
    text = wait_for("the file", lambda: [t for t in [engine.get("/metrics")] if DELAY in t])[0]
    with Daemon("--speed", "0", TRACES[0]) as daemon:
        wanted = value(daemon.samples(), f"{DELAY}_count", cause="woken")
    found = re.search(rf'^{DELAY}_count{{cause="woken"}} (\S+)$', text, re.M)
    expect(found and float(found.group(1)) == wanted, f"{found} and {wanted}")
    expect('node_textfile_scrape_error 0' in text, "node_exporter could not read it")


@case
def rules_that_ship_give_the_known_answers():
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    rules = SOURCE / "share/schedscope/prometheus/schedscope-rules.yml"
    with folder() as here:
        test = pathlib.Path(here) / "test.yml"
        test.write_text((SOURCE / "tests/serve/rules_test.yml").read_text().replace("RULES", str(rules)))
        for words in (["check", "rules", str(rules)], ["test", "rules", str(test)]):
            done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
    named = set(re.findall(r"schedscope_\w+?(?=_bucket|_sum|_count|[^\w:])", re.sub(r"\w+:schedscope_[\w:]+", "", rules.read_text())))
    check_names(named, "a rule")


def check_names(named, where):
    """A name that does not exist gives an empty graph, and no error."""
    described = set(re.findall(r"^### `(\w+)`", (SOURCE / "docs/metrics.md").read_text(), re.M))
    expect(named and named <= described, f"{where} uses {named - described}, which no metric is called")


@case
def every_expression_of_the_dashboard_works():
    """Those that need more than a recording has are only parsed; all others have an answer."""
    engine = World.engine("prometheus")
    all_are_up(engine)
    absent = ("blame", "dsq", "runqueue_depth", "throttled", "lost_events")
    time.sleep(max(0, 3 * SCRAPE_S - engine.age_s()))  # rates take two scrapes
    asked = list(expressions())
    for title, text in asked:
        expect(engine.query(text) or any(word in text for word in absent), f"{title}: no answer to {text}")
    expect(len(asked) >= 16, f"{len(asked)} expressions")
    text = json.dumps(dashboard())
    check_names(set(re.findall(r"schedscope_\w+?(?=_bucket|_sum\b|_count\b|\W)", text)), "the dashboard")


try:
    main()
finally:
    World.stop()
