#!/usr/bin/env python3
"""`serve` over a recording: formats, HTTP, the file for node_exporter, signals. Needs no rights. Prints TAP."""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import fleet
from serve import (ACCEPT, SAMPLE, SCHEDSCOPE, SOURCE, WAIT_S, Daemon, buckets, case, expect, folder, main, recording, samples_of, value, wait_for)

FOLDER = folder()
TRACE = recording(FOLDER.name)
TYPES = {"text": "text/plain; version=0.0.4; charset=utf-8", "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8"}


def query(sql):
    words = [SCHEDSCOPE, "query", "--all", "--sql", sql, "--json", TRACE]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["rows"]


@case
def the_list_of_metrics_is_the_page_in_docs():
    listed = subprocess.run([SCHEDSCOPE, "serve", "--list-metrics"], check=True, capture_output=True, text=True).stdout
    expect(listed == (SOURCE / "docs/metrics.md").read_text(), "docs/metrics.md is old: schedscope serve --list-metrics >docs/metrics.md")


@case
def every_metric_of_a_page_is_described():
    described = (SOURCE / "docs/metrics.md").read_text()
    with Daemon("--speed", "0", TRACE) as daemon:
        for line in daemon.page().splitlines():
            if line.startswith("# TYPE"):
                name, kind = line.split()[2:4]
                expect(f"### `{name}`\n" in described, f"{name} is not in docs/metrics.md")
                expect((kind == "counter") == name.endswith("_total"), line)


@case
def no_label_is_a_pid():
    with Daemon("--speed", "0", TRACE) as daemon:
        for name, pairs in daemon.samples():
            expect(not {label for label, _ in pairs} & {"pid", "tid", "tgid", "comm"}, f"{name} {pairs}")


@case
def formats_are_negotiated():
    with Daemon("--speed", "0", TRACE) as daemon:
        for form, kind in TYPES.items():
            status, headers, body = daemon.ask(Accept=ACCEPT[form])
            expect(status == 200 and headers["Content-Type"] == kind, f"{form}: {status} {headers}")
            expect(body.endswith(b"# EOF\n") == (form == "openmetrics"), form)
        status, headers, _ = daemon.ask()
        expect(headers["Content-Type"] == TYPES["text"], f"without Accept: {headers}")
        status, headers, _ = daemon.ask(Accept=ACCEPT["protobuf"])
        expect(headers["Content-Type"].startswith("application/vnd.google.protobuf"), f"{headers}")
        status, _, body = daemon.ask(Accept="image/png")
        expect(status == 406 and body.count(b"\n") == 1, f"{status} {body}")


@case
def counts_and_sums_are_those_of_the_recording():
    """Against SQL over the same file, which other code adds up."""
    with Daemon("--speed", "0", "--buckets", "all", TRACE) as daemon:
        samples = daemon.samples()
    waits = {}
    for row in query("SELECT cause, queue_dur FROM wait WHERE is_open = 0"):
        waits.setdefault(row["cause"], []).append(row["queue_dur"])
    expect(set(waits) == {"woken", "new", "preempted"}, f"{set(waits)}")
    for cause, times in waits.items():
        rows = buckets(samples, "schedscope_sched_delay_seconds", cause=cause)
        expect(value(samples, "schedscope_sched_delay_seconds_count", cause=cause) == len(times) == rows[-1][1], f"{cause}: {len(times)}")
        expect(abs(value(samples, "schedscope_sched_delay_seconds_sum", cause=cause) - sum(times) / 1e9) < 1e-6, f"{cause}: the sum")
        expect(len(rows) == 216, f"{len(rows)} buckets")
        for le, count in rows:
            expect(count == sum(ns < round(le * 1e9) if le < 1e9 else True for ns in times), f"{cause}: {count} below {le}")
    by_cgroup = sum(v for (name, _), v in samples.items() if name == "schedscope_cgroup_sched_delay_seconds_count")
    expect(by_cgroup == sum(map(len, waits.values())), f"{by_cgroup} by cgroup")
    slices = query("SELECT count(*) AS nr, sum(dur) AS ns FROM sched_slice WHERE is_open = 0")[0]
    expect(sum(value(samples, "schedscope_slice_seconds_count", end=end) for end in ("slept", "preempted")) == slices["nr"], f"{slices}")
    expect(sum(v for (name, _), v in samples.items() if name == "schedscope_migrations_total") ==
           query("SELECT count(*) AS nr FROM migration")[0]["nr"], "migrations")


def wasted(*words, trace=TRACE):
    done = subprocess.run([SCHEDSCOPE, "analyze", trace, "wasted_cores", "--json", *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@case
def wasted_idle_time_is_that_of_the_analysis():
    with Daemon("--speed", "0", TRACE) as daemon:
        shown = value(daemon.samples(), "schedscope_wasted_idle_seconds_total")
    found = find_key(wasted(), "wasted_ns")
    expect(found > 0 and shown == found / 1e9, f"{shown} s, and the analysis has {found} ns")
    # Where which CPUs tasks may use is not recorded, nothing is shown, though the analysis has an upper bound.
    other = recording(FOLDER.name, "perfetto/k-host-killed.pftrace.gz")
    expect(find_key(wasted(trace=other), "wasted_ns") > 0, "the other recording should have some")
    with Daemon("--speed", "0", other) as daemon:
        expect("wasted_idle" not in daemon.page(), "it is shown though affinity is unknown")


def find_key(tree, key):
    """The first value of that key, wherever it is."""
    if isinstance(tree, dict):
        if key in tree:
            return tree[key]
        tree = list(tree.values())
    found = (find_key(part, key) for part in tree) if isinstance(tree, list) else ()
    return next((value for value in found if value is not None), None)


@case
def a_replay_goes_as_fast_as_it_was_recorded():
    with Daemon("--speed", "1", TRACE) as daemon:
        first = daemon.samples()
        time.sleep(1)
        then = daemon.samples()
        end = wait_for("the end", lambda: at_end(daemon), 30)
    moved = value(then, "schedscope_replay_position_seconds") - value(first, "schedscope_replay_position_seconds")
    expect(moved == 0 or 0.5 < moved < 5, f"{moved} s of the recording in about one")
    for key, now in then.items():
        if key[0].endswith(("_total", "_count", "_bucket", "_sum")):
            expect(first.get(key, 0) <= now <= end.get(key, now), f"{key} went back")


def at_end(daemon):
    with Daemon("--speed", "0", TRACE) as whole:
        wanted = value(whole.samples(), "schedscope_replay_position_seconds")
    samples = daemon.samples()
    return samples if value(samples, "schedscope_replay_position_seconds") == wanted else None


@case
def exemplars_name_the_longest():
    with Daemon("--speed", "0", TRACE) as daemon:
        text = daemon.page("openmetrics")
    marked = [line for line in text.splitlines() if " # {" in line]
    expect(marked, "no exemplars")
    for line in marked:
        labels = line.split(" # {")[1].split("}")[0]
        expect(len(labels) <= 128 and labels.count("=") == 3 and 'comm="' in labels and 'tid="' in labels, line)
        series = line.split('le="')[0]
        rows = [(float(row.split('le="')[1].split('"')[0]), int(row.split("} ")[1].split()[0])) for row in text.splitlines() if row.startswith(series)]
        at = [le for le, _ in rows].index(float(line.split('le="')[1].split('"')[0]))
        low, high = rows[at - 1][0] if at else 0, rows[at][0]
        expect(low <= float(line.split("} ")[-1].split()[0]) < high, f"its bucket is [{low}, {high}): {line}")
        expect(rows[at][1] == rows[-1][1] and (not at or rows[at - 1][1] < rows[-1][1]), f"not the bucket of the maximum: {line} {rows}")
    expect("# {" not in samples_text(), "exemplars in the classic text")


def samples_text():
    with Daemon("--speed", "0", TRACE) as daemon:
        return "\n".join(line for line in daemon.page().splitlines() if not line.startswith("#"))


@case
def cardinality_is_bounded_and_the_cut_is_told():
    with Daemon("--speed", "0", "--top", "0", TRACE) as daemon:
        samples = daemon.samples()
    cgroups = {dict(pairs).get("cgroup") for _, pairs in samples} - {None}
    expect(cgroups == {"other"}, f"{cgroups}")
    with Daemon("--speed", "0", "--top", "1", TRACE) as daemon:
        samples = daemon.samples()
    cgroups = {dict(pairs).get("cgroup") for _, pairs in samples} - {None}
    seen = value(samples, "schedscope_cgroups_seen")
    expect(len(cgroups) <= 2 and value(samples, "schedscope_cgroups_merged") == max(0, seen - 1), f"{cgroups} of {seen}")


@case
def other_paths_and_methods_are_refused_in_one_sentence():
    with Daemon("--speed", "0", TRACE) as daemon:
        for path, wanted in (("/healthz", 200), ("/-/ready", 200), ("/-/healthy", 200), ("/", 200), ("/nope", 404)):
            status, _, body = daemon.ask(path)
            expect(status == wanted and body.count(b"\n") == 1, f"{path}: {status} {body}")
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, headers, body = daemon.ask(method=method)
            expect(status == 405 and headers["Allow"] == "GET, HEAD", f"{method}: {status}")
        status, _, body = daemon.ask(body=b"x" * 100)
        expect(status == 413, f"a body: {status}")
        status, headers, body = daemon.ask(method="HEAD")
        expect(status == 200 and body == b"" and int(headers["Content-Length"]) > 1000, f"HEAD: {status} {headers}")
        status, _, _ = daemon.ask(Host="evil.example")
        expect(status == 403, f"another Host: {status}")
        status, _, _ = daemon.ask(Origin="http://evil.example")
        expect(status == 403, f"another Origin: {status}")
        expect(daemon.ask("/healthz")[0] == 200, "it has survived")


@case
def large_and_slow_requests_do_not_hold_it_up():
    with Daemon("--speed", "0", TRACE) as daemon:
        idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(60)]
        slow = socket.create_connection(("127.0.0.1", daemon.port))
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
        huge = socket.create_connection(("127.0.0.1", daemon.port))
        try:
            huge.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200000 + b"\r\n\r\n")
        except OSError:
            pass
        wait_for("an answer beside idle clients", lambda: answers(daemon))
        slow.settimeout(15)
        end = time.monotonic()
        expect(slow.recv(100)[:12] in (b"", b"HTTP/1.1 408"), "a slow client was answered")
        expect(time.monotonic() - end < 14, "a slow client is kept")
        before = daemon.rss_kib()
        for _ in range(300):
            daemon.page()
        expect(daemon.rss_kib() - before < 4096, f"{before} KiB became {daemon.rss_kib()} with 300 scrapes")
        for sock in idle + [slow, huge]:
            sock.close()


def answers(daemon):
    try:
        return daemon.ask("/healthz")[0] == 200
    except OSError:
        return False


@case
def a_token_is_required_where_one_is_set():
    token = pathlib.Path(FOLDER.name) / "token"
    token.write_text("0123456789abcdef0123\n")
    token.chmod(0o600)
    with Daemon("--speed", "0", "--token-file", str(token), TRACE) as daemon:
        status, headers, _ = daemon.ask()
        expect(status == 401 and headers["WWW-Authenticate"] == "Bearer", f"without: {status}")
        expect(daemon.ask(Authorization="Bearer 0123456789abcdef0124")[0] == 401, "a wrong one")
        expect(daemon.ask(Authorization="Bearer 0123456789abcdef0123")[0] == 200, "the right one")
        expect(daemon.ask("/healthz")[0] == 200 and daemon.ask("/-/ready")[0] == 200, "probes have no token")
        expect(daemon.ask(Authorization="Bearer 0123456789abcdef0123", Host="proxy.example")[0] == 200, "a name that a proxy passes on")
    token.chmod(0o644)
    refuse(["--token-file", str(token), TRACE], "other users of this machine can read", 1)


def put_token(path, text, mode=0o600):
    """As tools that rotate secrets do: another file takes the name."""
    new = path.with_suffix(".new")
    new.write_text(text + "\n")
    new.chmod(mode)
    new.rename(path)


@case
def a_hangup_reads_the_token_again():
    """The file is in a folder that only its owner can enter, and the daemon of root is no longer root."""
    with folder() as here:
        token = pathlib.Path(here) / "token"
        put_token(token, "first-token-0123456789")
        with Daemon("--speed", "0", "--token-file", str(token), TRACE) as daemon:
            def status(text):
                return daemon.ask(Authorization=f"Bearer {text}")[0]

            def hang_up():
                daemon.process.send_signal(signal.SIGHUP)

            expect(status("first-token-0123456789") == 200, "the first token")
            kept = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT_S)  # as Prometheus has one

            def status_of_kept(text):
                kept.request("GET", "/metrics", headers={"Authorization": f"Bearer {text}"})
                answer = kept.getresponse()
                answer.read()
                return answer.status

            expect(status_of_kept("first-token-0123456789") == 200, "the first token, on the connection that stays")
            sock = kept.sock
            put_token(token, "second-token-0123456789")
            expect(status("second-token-0123456789") == 401, "a token that was not read yet")
            hang_up()
            wait_for("the second token", lambda: status("second-token-0123456789") == 200)
            expect(status("first-token-0123456789") == 401, "the old token still opens")
            expect(status_of_kept("second-token-0123456789") == 200 and sock and kept.sock is sock, "the new one on the connection from before")
            expect(status_of_kept("first-token-0123456789") == 401, "the old token still opens on the connection from before")
            for text, mode in (("short", 0o600), ("third-token-0123456789", 0o644)):
                put_token(token, text, mode)
                hang_up()
                expect("the token stays what it was" in daemon.read_line(WAIT_S), f"{daemon.said}")
                expect(status("second-token-0123456789") == 200 and status(text) == 401, f"{text} was taken")
            token.unlink()
            hang_up()
            expect("cannot read the token file" in daemon.read_line(WAIT_S), f"{daemon.said}")
            expect(status("second-token-0123456789") == 200, "a token that is gone opens nothing more")
            kept.close()


def refuse(words, why, code=2):
    done = subprocess.run([SCHEDSCOPE, "serve", *words], capture_output=True, text=True, timeout=WAIT_S, check=False)
    expect(done.returncode == code and why in done.stderr, f"{words}: {done.returncode} {done.stderr}")
    expect(done.stdout == "" and done.stderr.count("\n") <= 2, f"{words}: {done.stderr}")


@case
def wrong_words_are_refused():
    refuse(["--listen", "0.0.0.0:0", TRACE], "is not a loopback address", 1)
    refuse(["--listen", "0.0.0.0:0", "--allow-remote", TRACE], "needs a token", 1)
    refuse(["--listen", "nonsense", TRACE], "is not an address to listen on", 1)
    refuse(["--listen", "off", TRACE], "no way to read the metrics")
    refuse(["--groups", "schedstat"], "have no metrics")
    refuse(["--groups", "nonsense"], "nonsense")
    refuse([TRACE, TRACE], "one recording at most")
    refuse(["-g", "latency", TRACE], "are about this machine")
    refuse(["/nonexistent.pftrace"], "cannot open", 1)
    refuse(["--top", "100000"], "1000")


@case
def the_file_for_node_exporter_is_whole_at_any_moment():
    with folder() as target:
        os.chmod(target, 0o777)
        with Daemon("--speed", "0", "--textfile", target, "--every", "1s", TRACE, listen="off") as daemon:
            path = pathlib.Path(target) / "schedscope.prom"
            wait_for("the file", path.exists)
            first = path.stat()
            expect(first.st_mode & 0o444 == 0o444, f"others cannot read it: {first.st_mode:o}")
            end = time.monotonic() + 3
            while time.monotonic() < end:
                samples = samples_of(path.read_text())
                expect(("schedscope_build_info") in {name for name, _ in samples} and path.read_text().endswith("\n"), "a torn file")
            expect(path.stat().st_ino != first.st_ino, "it was not replaced")
            expect(daemon.stop() == 0, f"{daemon.said}")
            expect(os.listdir(target) == ["schedscope.prom"], f"{os.listdir(target)}")


@case
def a_link_in_the_place_of_the_file_is_not_followed():
    """Whoever may write there could else choose which file of root's is replaced."""
    with folder() as here:
        victim, target = pathlib.Path(here) / "victim", pathlib.Path(here) / "textfiles"
        victim.write_text("precious\n")
        target.mkdir()
        path = target / "schedscope.prom"
        path.symlink_to(victim)
        with Daemon("--speed", "0", "--textfile", str(target), "--every", "1s", TRACE, listen="off") as daemon:
            wait_for("the file", lambda: not path.is_symlink())
            path.unlink()
            path.symlink_to(victim)  # later, too
            wait_for("the file again", lambda: not path.is_symlink())
            expect(daemon.stop() == 0, f"{daemon.said}")
        expect("schedscope_build_info" in path.read_text() and victim.read_text() == "precious\n", victim.read_text())
        expect(os.listdir(target) == ["schedscope.prom"], f"{os.listdir(target)}")
        path.unlink()
        path.mkdir()
        refuse(["--speed", "0", "--listen", "off", "--textfile", str(target), TRACE], "is a directory", 1)


@case
def names_of_cgroups_and_tasks_cannot_forge_samples():
    """A page that has a series twice, or a line that is none, is refused as a whole by those who scrape."""
    path = pathlib.Path(FOLDER.name) / "hostile.pftrace"
    path.write_bytes(fleet.hostile())
    with Daemon("--speed", "0", "--top", "100", str(path)) as daemon:
        samples = daemon.samples()
        marked = [line for line in daemon.page("openmetrics").splitlines() if " # {" in line]
        proto = daemon.page("protobuf")
    groups = {dict(pairs)["cgroup"] for name, pairs in samples if name == "schedscope_cgroup_sched_delay_seconds_count"}
    expect(len(groups) >= len(fleet.HOSTILE_PATHS) - 2 and "other" in groups, f"{groups}")
    expect(all(name.isprintable() and len(name) < 256 for name in groups), f"{groups}")
    total = sum(value(samples, "schedscope_cgroup_sched_delay_seconds_count", cgroup=name) for name in groups)
    expect(total == sum(v for (name, _), v in samples.items() if name == "schedscope_sched_delay_seconds_count"), f"{total}")
    expect(("evil", ()) not in samples and marked and proto, "a forged sample")
    for line in marked:
        expect(SAMPLE.match(line), line)


@case
def many_silent_clients_hold_up_no_scrape():
    """They are cut, those that wait in the queue of the socket come in at once, and the log has a line of it, not one for each."""
    with Daemon("--speed", "0", TRACE) as daemon:
        silent = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(200)]
        begun = time.monotonic()
        wait_for("an answer", lambda: answers(daemon))
        took = time.monotonic() - begun
        files = len(os.listdir(f"/proc/{daemon.process.pid}/fd"))
        for sock in silent:
            sock.close()
        expect(daemon.stop() == 0, f"{daemon.said}")
    expect(took < 30 and files < 100, f"{took:.1f} s, {files} descriptors")
    expect(1 <= sum("idle connections" in line for line in daemon.said) <= 4, f"{daemon.said}")


@case
def signals_end_it_cleanly():
    for how in (signal.SIGTERM, signal.SIGINT):
        with Daemon("--speed", "0", TRACE) as daemon:
            keep = socket.create_connection(("127.0.0.1", daemon.port))
            expect(daemon.stop(how) == 0, f"{how}: {daemon.said}")
            keep.close()
    with Daemon("--speed", "0", TRACE) as daemon:
        port = daemon.port
        daemon.stop(signal.SIGKILL)
    with Daemon("--speed", "0", TRACE, listen=f"127.0.0.1:{port}") as daemon:  # the port is free at once
        expect(daemon.ask("/healthz")[0] == 200, "after kill -9")


main()
