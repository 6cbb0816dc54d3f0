#!/usr/bin/env python3
"""export --parquet on the command line: which files there are, when, and what is refused. Prints TAP."""
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import footer

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", "build/schedscope")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
OWN = DATA / "together/together.pftrace.gz"
SCX = DATA / "perfetto/e-guest-scx-vtime.pftrace.gz"
STACKS = DATA / "perf/host-callgraph.data.gz"


def call(*words, **how):
    return subprocess.run([SCHEDSCOPE, *map(str, words)], capture_output=True, text=True, timeout=120, check=False, **how)


def export(folder, *words, **how):
    return call("export", "--parquet", folder, *words, **how)


def good(done):
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def refused(done, code, pattern):
    assert done.returncode == code and not done.stdout, (done.returncode, done.stdout)
    assert len(done.stderr.splitlines()) == 1 and re.search(pattern, done.stderr), done.stderr


def rows(path, table):
    return json.loads(good(call("query", path, "--json", "--sql", f'SELECT count(*) AS n FROM "{table}"')))["rows"][0]["n"]


def tables():
    return json.loads(good(call("query", "--tables", "--json")))["tables"]


def files(folder):
    """All of them, also those that begin with a dot."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def several_recordings_at_once(folder):
    told = good(export(folder, OWN, SCX, STACKS)).splitlines()
    assert len(files(folder)) == 3 * len(tables())
    for path, line in zip((OWN, SCX, STACKS), told):
        nr = sum(rows(path, table) for table in tables())
        assert line.startswith(f"{path}: {nr} rows in {len(tables())} files, "), line
    for table in tables():
        found = sorted((folder / table).rglob("*.parquet"))
        assert sum(footer.read(path)["rows"] for path in found) == sum(rows(path, table) for path in (OWN, SCX, STACKS)), table


def folders_are_those_of_hive(folder):
    good(export(folder, "--tables", "wait", OWN))
    good(export(folder, "--tables", "wait", "--host", "../a b=ü", OWN))
    good(export(folder, "--tables", "wait", STACKS))
    assert files(folder) == [
        "wait/date=2026-11-17/host=..%2Fa%20b%3D%C3%BC/together-20261117T230630.195848Z.parquet",
        "wait/date=2026-11-17/host=__HIVE_DEFAULT_PARTITION__/together-20261117T230630.195848Z.parquet",
        "wait/date=__HIVE_DEFAULT_PARTITION__/host=vm/host-callgraph.parquet",
    ], files(folder)


def two_captures_of_a_host_share_a_folder(folder):
    later = folder / "later.pftrace.gz"
    shutil.copy(OWN, later)
    out = folder / "out"
    good(export(out, "--host", "web", OWN, later))
    assert len({path.parent for path in out.rglob("wait/**/*.parquet")}) == 1
    assert len(list(out.rglob("wait/**/*.parquet"))) == 2


def files_are_not_replaced_unless_asked_for(folder):
    good(export(folder, OWN))
    before = {name: (folder / name).stat().st_ino for name in files(folder)}
    refused(export(folder, OWN), 1, "is there already.*--force")
    assert {name: (folder / name).stat().st_ino for name in files(folder)} == before
    good(export(folder, "--force", OWN))
    after = {name: (folder / name).stat().st_ino for name in files(folder)}
    assert set(after) == set(before) and not set(after.values()) & set(before.values())


def files_of_others_are_never_replaced(folder):
    good(export(folder, OWN))
    (path,) = (folder / "wakeup").rglob("*.parquet")
    path.write_bytes(b"PAR1" + b"somebody's data" + b"PAR1")
    before = files(folder)
    refused(export(folder, "--force", OWN), 1, "is not of schedscope")
    assert path.read_bytes() == b"PAR1somebody's dataPAR1" and files(folder) == before


def a_link_in_the_way_is_refused(folder):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    out = folder / "out"
    out.mkdir()
    (out / "wait").symlink_to(elsewhere)
    refused(export(out, OWN), 1, "'wait' is a link or a file")
    assert not files(elsewhere) and not files(out), files(out)


def only_the_tables_that_are_named(folder):
    good(export(folder, "--tables", "sched_slice,Thread", OWN))
    assert sorted(path.name for path in folder.iterdir()) == ["sched_slice", "thread"]
    refused(export(folder, "--tables", "wait,nothing", OWN), 2, "there is no table 'nothing'")


def what_makes_no_sense_is_refused(folder):
    refused(call("export", "--host", "web", OWN), 2, "belong to --parquet")
    refused(call("export", "--force", OWN), 2, "belong to --parquet")
    refused(export(folder, "--chrome", OWN), 2, "no --chrome")
    refused(export(folder, "-o", "x.json", OWN), 2, "no --chrome, --output")
    refused(export(folder, "--comm", "x", OWN), 2, "writes all rows")
    refused(export(folder, "--from", "1s", OWN), 2, "writes all rows")
    refused(export(folder), 2, "no file is named")
    refused(export(folder, "--host", "x" * 300, OWN), 1, "too long for a folder")
    refused(export(folder / "no/such", OWN), 1, "cannot make the folder")
    assert not files(folder)


def a_file_that_cannot_be_read_ends_it(folder):
    done = export(folder, "--tables", "wait", OWN, folder / "missing", SCX)
    assert done.returncode == 1 and "missing" in done.stderr and done.stdout.startswith(f"{OWN}: "), done
    assert len(files(folder)) == 1


def cut_and_damaged(folder):
    """Recordings that end too early, and some whose bytes are wrong, the same in every run."""
    rolls = random.Random(20261119)
    for source in (OWN, SCX, STACKS):
        whole = gzip.decompress(source.read_bytes())
        for share in (0.0001, 0.02, 0.3, 0.7, 0.999):
            path = folder / f"{source.name.split('.')[0]}-cut-{share}"
            path.write_bytes(whole[:int(share * len(whole))])
            yield path
        for nr in (4, 400):
            bytes_ = bytearray(whole)
            for _ in range(nr):
                bytes_[rolls.randrange(200, len(bytes_))] = rolls.randrange(256)
            path = folder / f"{source.name.split('.')[0]}-damaged-{nr}"
            path.write_bytes(bytes_)
            yield path


def recordings_that_are_cut_or_damaged_are_refused_or_as_query_has_them(folder):
    fates = []
    for path in cut_and_damaged(folder):
        out = folder / f"out-{path.name}"
        done, asked = export(out, path), call("query", path, "--json", "--sql", "SELECT count(*) AS n FROM wait")
        assert (done.returncode, asked.returncode) in ((0, 0), (1, 1)), (path.name, done, asked)
        fates.append(done.returncode)
        if done.returncode:
            refused(done, 1, re.escape(path.name))
            assert not out.exists() or not files(out), files(out)
            continue
        held = {name.split("/")[0]: footer.read(out / name) for name in files(out)}
        assert {table: file["rows"] for table, file in held.items()} == {table: rows(path, table) for table in tables()}, path.name
        ends_early = json.loads(good(call("analyze", path, "summary", "--json"))).get("incomplete")
        assert {file["notes"].get("schedscope.incomplete") for file in held.values()} == {ends_early}, (path.name, ends_early)
        assert ends_early or "cut" not in path.name or STACKS.name.split(".")[0] in path.name, path.name
    assert 2 <= sum(fates) < len(fates) - 10, fates


def limit_size():
    """Writing beyond some kilobytes fails, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def a_file_that_cannot_be_written_leaves_nothing(folder):
    refused(export(folder, OWN, preexec_fn=limit_size), 1, "cannot write '")
    assert not files(folder), files(folder)


def die_at(size):
    """For a child: the kernel ends it (SIGXFSZ) within the write that would make a file larger."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def one_that_dies_while_it_writes_leaves_no_torn_file(folder):
    for size in (1, 3000, 20000):  # in the first table, and in later ones
        assert export(folder, OWN, preexec_fn=die_at(size)).returncode == -signal.SIGXFSZ
        torn = files(folder)
        assert torn and all(pathlib.Path(name).name.startswith(".") for name in torn), (size, torn)
    good(export(folder, OWN))
    whole = [name for name in files(folder) if name not in torn]
    assert len(whole) == len(tables())
    for name in whole:
        footer.read(folder / name)


def a_full_disk_leaves_nothing(folder):
    script = 'mount -t tmpfs -o size=200k none "$2" && "$1" export --parquet "$2" "$3"; echo "$? $(find "$2" -type f | wc -l)"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", SCHEDSCOPE, folder, OWN], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "1 0\n", (done.stdout, done.stderr)
    assert re.search("cannot write '.*No space left on device; make room", done.stderr), done.stderr


def columns_are_coded_as_they_should_be(folder):
    good(export(folder, "--tables", "wait", "--host", "web", OWN))
    (path,) = folder.rglob("*.parquet")
    told = footer.read(path)
    columns = told["columns"]
    assert told["writer"].startswith("schedscope version ")
    assert columns["ts"]["encodings"] == {"DELTA_BINARY_PACKED", "RLE"} and columns["ts"]["type"] == "int64", columns["ts"]
    assert columns["comm"]["encodings"] == {"RLE_DICTIONARY", "PLAIN", "RLE"} and columns["comm"]["is_text"]
    assert columns["capture"]["is_required"] and not columns["ts"]["is_required"]
    truth = json.loads(good(call("query", OWN, "--json", "--sql", "SELECT min(ts) a, max(ts) b, sum(wakeup_ts IS NULL) c, min(comm) d, max(comm) e FROM wait")))["rows"][0]
    (ts,), (wakeup,), (comm,) = columns["ts"]["stats"], columns["wakeup_ts"]["stats"], columns["comm"]["stats"]
    assert [int.from_bytes(ts[k], "little", signed=True) for k in (6, 5)] == [truth["a"], truth["b"]] and ts[3] == 0
    assert wakeup[3] == truth["c"] > 0
    assert [comm[6].decode(), comm[5].decode()] == [truth["d"], truth["e"]]
    notes = told["notes"]
    assert notes["schedscope.host"] == "web" and notes["schedscope.table"] == "wait" and notes["schedscope.lost_events"] == "1", notes
    assert notes["schedscope.schema_version"] == "1" and notes["schedscope.kernel"] == "7.2.13-scxvm" and notes["schedscope.capture"] == path.stem


def our_recordings_know_host_and_boot(folder):
    file = folder / "own.pftrace"
    assert call("record", "-o", file, "--", "sleep", "0.1").returncode == 0
    good(export(folder / "out", "--tables", "trace", file))
    (path,) = (folder / "out").rglob("*.parquet")
    notes = footer.read(path)["notes"]
    assert notes["schedscope.host"] == os.uname().nodename, notes
    assert notes["schedscope.boot_id"] == pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(), notes
    assert path.parent.name == f"host={os.uname().nodename}"


def can_record():
    return os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")


def can_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


CASES = [(several_recordings_at_once, None), (folders_are_those_of_hive, None), (two_captures_of_a_host_share_a_folder, None),
         (files_are_not_replaced_unless_asked_for, None), (files_of_others_are_never_replaced, None), (a_link_in_the_way_is_refused, None),
         (only_the_tables_that_are_named, None), (what_makes_no_sense_is_refused, None), (a_file_that_cannot_be_read_ends_it, None),
         (recordings_that_are_cut_or_damaged_are_refused_or_as_query_has_them, None),
         (a_file_that_cannot_be_written_leaves_nothing, None), (one_that_dies_while_it_writes_leaves_no_torn_file, None), (a_full_disk_leaves_nothing, can_mount), (columns_are_coded_as_they_should_be, None),
         (our_recordings_know_host_and_boot, can_record)]


def main():
    """Command line."""
    failed = False
    print(f"1..{len(CASES)}")
    for number, (case, condition) in enumerate(CASES, 1):
        if condition and not condition():
            print(f"ok {number} - {case.__name__} # SKIP needs root")
            continue
        try:
            with tempfile.TemporaryDirectory() as name:
                case(pathlib.Path(name))
            print(f"ok {number} - {case.__name__}")
        except AssertionError as error:
            failed = True
            print(f"not ok {number} - {case.__name__}")
            print("# " + str(error).replace("\n", "\n# "))
    return failed


if __name__ == "__main__":
    sys.exit(main())
