#!/usr/bin/env python3
"""What is left of root once a command measures: nothing, in any thread, and what a file lends opens no file.

Looks from outside, at /proc/PID/status of every thread of the running command. The one process that keeps rights is found by
its name, and is held to its own limits.
"""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import shutil
import struct
import subprocess
import sys
import termios
import threading
import time

from live import NOBODY, ROOT, SCHEDSCOPE, WAIT_S, case, expect, main, need_live, output, scratch

sys.path.insert(0, str(ROOT / "tests/mcp"))
os.environ.setdefault("SCHEDSCOPE", SCHEDSCOPE)
os.environ.setdefault("FAKE_SERVER", "")  # of the same client, for other tests
import client  # noqa: E402
from http_client import http_server, request  # noqa: E402

BROKER = "schedscope-priv"
TRACER = "schedscope-bpf"  # the one that loads programs for those who attach them later
UID = "65534"
# What the broker of a command may have: by bit.
CAPS = {"dac_override": 1, "dac_read_search": 2, "fowner": 3, "setgid": 6, "setuid": 7, "sys_ptrace": 19,
        "sys_admin": 21, "syslog": 34, "perfmon": 38, "bpf": 39, "checkpoint_restore": 40}


def status(path):
    text = pathlib.Path(path, "status").read_text(encoding="utf-8")
    return {key: value.split() for key, value in re.findall(r"^(\w+):[ \t]*(.*)$", text, re.M)}


def mask(caps):
    return sum(1 << CAPS[cap] for cap in set(caps))


def is_without_rights(of, uid):
    return (of["Uid"] == [uid] * 4 and of["Gid"] == [uid] * 4 and not of["Groups"] and of["NoNewPrivs"] == ["1"]
            and all(int(of[key][0], 16) == 0 for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")))


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += (task / "children").read_text(encoding="ascii").split()
    return found


@contextlib.contextmanager
def running(args, uid=UID, env=None, tty=None):
    """The command, once it has given up its rights; on a terminal, if there is one for it."""
    need_live()
    with subprocess.Popen([SCHEDSCOPE, *args], text=True, stdin=subprocess.DEVNULL if tty is None else tty,
                          stdout=subprocess.PIPE if tty is None else tty,
                          stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}) as process:
        try:
            end = time.monotonic() + WAIT_S
            while not is_without_rights(now := status(f"/proc/{process.pid}"), uid):
                if process.poll() is not None or time.monotonic() > end:
                    process.kill()
                    raise AssertionError(f"{args} keeps rights: {now}\n{process.stdout.read() if tty is None else ''}")
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(WAIT_S)
                process.kill()


def check_threads(pid, uid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        of = status(task)
        expect(is_without_rights(of, uid), f"{of['Name']} has rights: {of}")


def check_threads_without(pid, *caps):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        of = status(task)
        expect(of["NoNewPrivs"] == ["1"] and not int(of["CapPrm"][0], 16) & mask(caps), f"{of['Name']} has rights: {of}")


def broker(pid, name):
    """The status of the child of that name, once it has given up what it does not need: nothing waits for that."""
    end, found = time.monotonic() + WAIT_S, []
    while time.monotonic() < end and status(f"/proc/{pid}")["State"][0] != "Z":
        with contextlib.suppress(FileNotFoundError):  # one that has just ended
            found = [status(f"/proc/{child}") for child in children(pid)]
        for of in found:
            if of["Name"] == [name] and of["NoNewPrivs"] == ["1"]:
                return of
        time.sleep(0.02)
    raise AssertionError(f"no {name} without other rights among the children: {found}")


def check_broker(pid, caps, name=BROKER):
    level = pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")
    if "perfmon" in caps and int(level) > 2:  # of Debian's kernels: there it does not do
        caps = (*caps, "sys_admin")
    of = broker(pid, name)
    expect(of["Threads"] == ["1"], f"the broker: {of}")
    expect(int(of["CapPrm"][0], 16) & ~mask(caps) == 0, f"capabilities of {name}: {of['CapPrm']}")


def check_tracer(pid):
    check_broker(pid, ("bpf", "perfmon", "syslog"), TRACER)


def check_untouchable(pid, uid):
    """Another process of the same user gets neither its memory nor its descriptors."""
    as_user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    for name in ("maps", "environ", "mem", "fd"):
        out = output([*as_user, "ls" if name == "fd" else "head", f"/proc/{pid}/{name}"])
        expect(out.returncode != 0 and "denied" in out.stderr, f"{name} can be read: {out.stdout[:100]} {out.stderr}")


def check(args, caps, **options):
    with running(args, **options) as process:
        uid = options.get("uid", UID)
        time.sleep(0.3)  # threads that start later, too
        check_threads(process.pid, uid)
        check_broker(process.pid, caps)
        check_untouchable(process.pid, uid)


@case
def stat_has_no_rights_left():
    check(["stat", "-r", "20"], ("sys_admin", "dac_read_search", "perfmon"))


@case
def stat_still_measures_its_own_cost():
    need_live()
    out = output([SCHEDSCOPE, "stat", "-r", "2", "-i", "2"])
    expect(re.search(r"own cost \d+ ns/event", out.stdout), out.stdout[-300:] + out.stderr)


FILES = ("sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore", "dac_override", "fowner", "perfmon")


@case
def record_has_no_rights_left():
    with scratch() as folder:
        for extra in ([], ["--stacks"], ["-s", "--pmu", "page-faults"]):
            check(["record", "--force", "-o", f"{folder}/x.pftrace", "--duration", "20", *extra], FILES)


@case
def the_flight_recorder_has_no_rights_left():
    with scratch() as folder:
        check(["record", "--keep", "1s", "-o", folder, "--duration", "20"], FILES)


@case
def profile_has_no_rights_left():
    with scratch() as folder:
        check(["profile", "--duration", "20", "--folded", f"{folder}/x"], FILES)
        check(["profile", "--off-cpu", "--duration", "20", "--folded", f"{folder}/y"], FILES)


@case
def profile_writes_its_file_where_only_root_may():
    need_live()
    with scratch() as folder:
        path = pathlib.Path(folder, "x.txt")
        path.write_text("old", encoding="ascii")
        path.chmod(0o640)
        out = output([SCHEDSCOPE, "profile", "--duration", "1", "--folded", str(path), "--", "sh", "-c",
                      "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
        expect(out.returncode == 0, out.stderr)
        expect(os.listdir(folder) == ["x.txt"] and path.stat().st_mode & 0o777 == 0o640, f"{os.listdir(folder)}")
        expect(path.read_text(encoding="utf-8").count("sh;") > 0, path.read_text(encoding="utf-8")[:200])


@case
def the_names_of_the_kernel_and_of_roots_programs_are_found_without_rights():
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o700)
        program = os.path.join(folder, "secretly")
        subprocess.run(["cp", "/bin/sh", program], check=True)
        os.chmod(program, 0o700)
        loop = [program, "-c", "while :; do :; done"]
        with subprocess.Popen(loop) as busy:
            try:
                out = output([SCHEDSCOPE, "profile", "--duration", "1", "--json", "-p", str(busy.pid)])
            finally:
                busy.kill()
        expect(out.returncode == 0 and '"secretly"' in out.stdout, out.stdout[:500] + out.stderr)


@contextlib.contextmanager
def terminal():
    """One that swallows what is drawn."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    ends = threading.Event()

    def swallow():
        while not ends.is_set():
            if select.select([ours], [], [], 0.1)[0]:
                os.read(ours, 65536)

    reader = threading.Thread(target=swallow)
    reader.start()
    try:
        yield theirs
    finally:
        ends.set()
        reader.join()
        os.close(ours)
        os.close(theirs)


SCREEN = ("sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore", "sys_admin", "dac_override")


@case
def the_screen_has_no_rights_left():
    with terminal() as tty, scratch() as folder:
        env = {"TERM": "xterm", "XDG_CONFIG_HOME": folder}
        check(["top", "-t", f"{folder}/x"], SCREEN, tty=tty, env=env)
        with running(["top", "-t", f"{folder}/x"], tty=tty, env=env) as process:
            check_tracer(process.pid)


@case
def the_screen_over_a_recording_has_no_rights_left():
    with terminal() as tty, scratch() as folder:
        path = f"{folder}/x.pftrace"
        out = output([SCHEDSCOPE, "record", "-o", path, "--duration", "0.3"])
        expect(out.returncode == 0, out.stderr)
        with running(["top", path], tty=tty, env={"TERM": "xterm", "XDG_CONFIG_HOME": folder}) as process:
            time.sleep(0.3)
            check_threads(process.pid, UID)


# It opens uprobes, too: the child that reads the file's symbols becomes nobody.
SERVER = ("sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore", "sys_admin", "dac_override", "fowner", "setuid",
          "setgid")
TRACE = ROOT / "tests/data/perfetto/c-guest-idle.pftrace.gz"
SPLIT = pathlib.Path(os.environ.get("SPLIT", str(ROOT / "build/tests/live/split")))


class OverHttp:
    """The same calls as of client.Client, to a server over HTTP."""

    def __init__(self, server):
        self.server, self.pid = server, server.pid
        server.hello()

    def call(self, tool, **arguments):
        answer = self.server.send(request("tools/call", {"name": tool, "arguments": arguments}))[2]
        answer = answer if isinstance(answer, dict) else answer[-1][1]
        result = answer["result"]
        if result.get("isError"):
            raise client.ToolError(result["content"][0]["text"])
        return result["structuredContent"]


def refusal(mcp, tool, **arguments):
    try:
        result = mcp.call(tool, **arguments)
    except client.ToolError as error:
        return str(error)
    raise AssertionError(f"{tool} {arguments} is not refused: {result}")


@contextlib.contextmanager
def rooms():
    """A directory that only root can enter, with a trace of root's, and one beside it with what is not allowed."""
    with scratch() as folder:
        allowed, other = pathlib.Path(folder, "allowed"), pathlib.Path(folder, "other")
        for room in (allowed, other):
            room.mkdir(mode=0o700)
            shutil.copy(TRACE, room / "trace.pftrace.gz")
            (room / "trace.pftrace.gz").chmod(0o600)
        (allowed / "out.pftrace.gz").symlink_to(other / "trace.pftrace.gz")
        (allowed / "folder").symlink_to(other)
        (allowed / "in.pftrace.gz").symlink_to(allowed / "trace.pftrace.gz")
        yield allowed, other


def check_files(mcp, allowed, other):
    """What the server reads and writes: below the allowed directory as root would, and nothing else."""
    expect(mcp.call("load_perfetto_trace", file_path=str(allowed / "trace.pftrace.gz"))["trace_id"] == "trace.pftrace", "load")
    expect(mcp.call("load_perfetto_trace", file_path="in.pftrace.gz", trace_id="in")["trace_id"] == "in", "a link inside")
    mcp.call("diff_traces", trace_id_a="trace.pftrace", trace_id_b="in")
    for path in (other / "trace.pftrace.gz", allowed / "out.pftrace.gz", allowed / "folder/trace.pftrace.gz",
                 allowed / "../other/trace.pftrace.gz", other / "nothing", "/etc/shadow"):
        why = refusal(mcp, "load_perfetto_trace", file_path=str(path))
        expect("is not below" in why and str(allowed) in why, f"{path}: {why}")
    for path in (other / "new", allowed / "folder/new", allowed / "out.pftrace.gz"):
        for tool, extra in (("record_and_analyze", {"duration_secs": 0.1}), ("export_trace_analysis", {"trace_id": "in"})):
            refusal(mcp, tool, output_path=str(path), **extra)
    expect(os.listdir(other) == ["trace.pftrace.gz"], f"{os.listdir(other)}")
    for _ in range(2):  # the second replaces the first
        mcp.call("export_trace_analysis", trace_id="in", output_path=str(allowed / "all.json"), analysis_types=["cpu_utilization"])
    made = (allowed / "all.json").stat()
    expect(made.st_mode & 0o777 == 0o600 and made.st_uid == 0 and made.st_size > 100, f"{made}")
    expect(not [name for name in os.listdir(allowed) if name.startswith(".")], f"left over: {os.listdir(allowed)}")


def check_recording(mcp, allowed):
    """With and without a place for the file; a file that is there stays."""
    for where in ({}, {"output_path": str(allowed / "new.pftrace")}):
        done = mcp.call("record_and_analyze", duration_secs=0.5, **where)
        expect(done["recording"]["switches"] > 0 and os.path.getsize(done["file_path"]) > 1000, f"{done['recording']}")
    expect((allowed / "new.pftrace").stat().st_mode & 0o777 == 0o600, "its mode")
    size = (allowed / "new.pftrace").stat().st_size
    expect("exists" in refusal(mcp, "record_and_analyze", duration_secs=0.1, output_path="new.pftrace"), "replaced")
    expect((allowed / "new.pftrace").stat().st_size == size, "an older file is changed")


def check_profile(mcp, folder):
    """Functions of a program that only root can read."""
    program = folder / "pie"
    shutil.copy(SPLIT / "split_pie", program)
    program.chmod(0o700)
    with subprocess.Popen([str(program), "60"]) as busy:
        try:
            mcp.call("start_perf_profiling", pid=busy.pid, freq=499, max_samples=100)
            expect(client.wait_until(lambda: mcp.call("get_perf_results").get("total_samples", 0) >= 100), "no samples")
            names = {row["symbol"] for row in mcp.call("get_perf_results")["symbols"]}
        finally:
            busy.kill()
    expect("part_seventy" in names, f"functions: {names}")


def check_server(mcp, allowed, other):
    check_threads(mcp.pid, UID)
    check_broker(mcp.pid, SERVER)
    check_tracer(mcp.pid)
    check_untouchable(mcp.pid, UID)
    check_files(mcp, allowed, other)
    check_recording(mcp, allowed)
    check_profile(mcp, other)
    check_threads(mcp.pid, UID)  # those that were started for all that, too


@contextlib.contextmanager
def own_tmp():
    """A TMPDIR that no other server uses; nothing may be left in it."""
    with scratch() as folder:
        os.chmod(folder, 0o1777)
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = folder
        try:
            yield folder
        finally:
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before
        expect(not os.listdir(folder), f"left over: {os.listdir(folder)}")


@case
def the_mcp_server_has_no_rights_left():
    need_live()
    with rooms() as (allowed, other), own_tmp() as tmp:
        with client.Client("--allow-path", str(allowed)) as mcp:
            check_server(mcp, allowed, other)
            expect(os.listdir(tmp), "its own directory is elsewhere")


@case
def the_mcp_daemon_over_http_has_no_rights_left():
    need_live()
    with rooms() as (allowed, other), own_tmp():
        with http_server("127.0.0.1:0", "--daemon", "--allow-path", str(allowed)) as server:
            for wrong in ({"Authorization": None}, {"Authorization": "Bearer " + "0" * 64}):
                expect(server.send(request("ping"), headers=wrong)[0] == 401, "served without the token")
            expect(os.stat(server.token_file).st_uid == 0, "others can read the token")
            mcp = OverHttp(server)
            mcp.call("control_analyzers", action="start", analyzer="latency_tracker")
            time.sleep(0.5)
            report = mcp.call("get_analyzer_report", analyzer="latency_tracker")
            expect("latency" in str(report), f"{report}")
            check_server(mcp, allowed, other)


@case
def a_server_that_others_may_not_run_still_reads_traces():
    need_live()
    with rooms() as (allowed, _), scratch() as folder:
        program = os.path.join(folder, "schedscope")
        shutil.copy(SCHEDSCOPE, program)
        os.chmod(program, 0o750)
        with client.Client("--allow-path", str(allowed), command=("sh", "-c", f'shift; exec {program} "$@"', "sh")) as mcp:
            check_threads(mcp.pid, UID)
            mcp.call("load_perfetto_trace", file_path="trace.pftrace.gz")


@case
def it_becomes_the_user_of_sudo():
    check(["stat", "-r", "20"], ("sys_admin", "dac_read_search", "perfmon"), uid="1234",
          env={"SUDO_UID": "1234", "SUDO_GID": "1234"})


@case
def the_command_that_is_recorded_is_still_roots():
    need_live()
    with scratch() as folder:
        out = output([SCHEDSCOPE, "record", "-o", f"{folder}/x", "--", "cat", "/proc/self/status"])
        expect(out.returncode == 0 and re.search(r"^Uid:\s+0\s", out.stdout, re.M), out.stdout + out.stderr)
        expect(re.search(r"^NoNewPrivs:\s+0", out.stdout, re.M), out.stdout)


@contextlib.contextmanager
def with_capabilities(caps="cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_dac_override"):
    """A copy of the program that lends capabilities to any user that runs it."""
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "schedscope")
        subprocess.run(["cp", SCHEDSCOPE, program], check=True)
        subprocess.run(["setcap", f"{caps}+ep", program], check=True)
        yield program


@case
def capabilities_of_the_file_write_nothing_that_its_user_may_not():
    with with_capabilities() as program, scratch() as forbidden:
        for args in (["record", "--duration", "0.2", "-o", f"{forbidden}/x"],
                     ["record", "--keep", "1s", "--duration", "0.2", "-o", forbidden],
                     ["profile", "--duration", "0.2", "--folded", f"{forbidden}/x"],
                     ["generate-completions", "--shell", "bash", "--output", f"{forbidden}/x"]):
            out = output([*NOBODY, program, *args])
            expect(out.returncode != 0 and "ermission denied" in out.stderr, f"{args}: {out.returncode} {out.stderr}")
            expect(os.listdir(forbidden) == [], f"{args} wrote {os.listdir(forbidden)}")


@case
def capabilities_of_the_file_read_nothing_that_its_user_may_not():
    with with_capabilities() as program, scratch() as folder:
        secret = os.path.join(folder, "secret")
        pathlib.Path(secret).write_text("root:$y$secret\n", encoding="ascii")
        for args in (["analyze", secret], ["stat", "-r", "0.2", "--topology", secret],
                     ["profile", "--duration", "0.2", "--diff", secret], ["top", secret], ["query", secret],
                     ["mcp", "--http", "127.0.0.1:0", "--token-file", secret]):
            out = output([*NOBODY, program, *args])
            expect(out.returncode != 0 and "ermission denied" in out.stderr, f"{args}: {out.returncode} {out.stderr}")
            expect("$y$" not in out.stdout + out.stderr, f"{args} shows the secret")


@case
def capabilities_of_the_file_open_no_directory_to_clients_of_the_server():
    with with_capabilities() as program, rooms() as (allowed, _):
        os.chmod(allowed.parent, 0o755)
        command = (*NOBODY, "sh", "-c", f'shift; exec {program} "$@"', "sh")
        with client.Client("--allow-path", str(allowed), command=command) as mcp:
            check_threads_without(mcp.pid, "dac_override", "dac_read_search", "sys_ptrace")
            why = refusal(mcp, "load_perfetto_trace", file_path=str(allowed / "trace.pftrace.gz"))
            expect("ermission denied" in why or "is not below" in why, why)
            refusal(mcp, "record_and_analyze", duration_secs=0.1, output_path=str(allowed / "new"))
        expect("new" not in os.listdir(allowed), f"{os.listdir(allowed)}")


@case
def with_capabilities_of_the_file_it_measures_and_drops_them():
    with with_capabilities() as program, scratch() as folder:
        os.chmod(folder, 0o777)
        for args in (["stat", "-r", "20"], ["record", "-o", f"{folder}/x", "--duration", "20"],
                     ["profile", "--duration", "20", "--folded", f"{folder}/y"]):
            with subprocess.Popen([*NOBODY, program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as process:
                end = time.monotonic() + WAIT_S
                while (now := status(f"/proc/{process.pid}"))["NoNewPrivs"] != ["1"] and time.monotonic() < end:
                    time.sleep(0.02)
                caps = [int(now[key][0], 16) for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")]
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=WAIT_S)[0]
                expect(process.returncode == 0 and caps == [0] * 4, f"{args}: {now} {said[-300:]}")


@case
def a_recorder_beside_serve_has_the_rights_of_a_unit():
    """As systemd starts it: ambient capabilities, no_new_privs, and a file that gives nothing."""
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o777)
        program = os.path.join(folder, "schedscope")
        subprocess.run(["cp", SCHEDSCOPE, program], check=True)
        os.mkdir(dumps := os.path.join(folder, "dumps"))
        os.chmod(dumps, 0o777)
        caps = "+bpf,+perfmon,+sys_ptrace,+dac_read_search"
        words = ["setpriv", "--reuid", UID, "--regid", UID, "--clear-groups", "--inh-caps", caps, "--ambient-caps", caps, "--no-new-privs",
                 program, "serve", "--listen", "127.0.0.1:0", "--keep", dumps, "--trigger", "wakeup-latency>100s"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            said = [process.stderr.readline()]
            expect("metrics are at" in said[0], said[0])
            end = time.monotonic() + WAIT_S
            while not (recorders := recorders_of(process.pid)) and time.monotonic() < end:
                time.sleep(0.05)
            process.terminate()
            said.append(process.communicate(timeout=WAIT_S)[1])
        expect(recorders and "flight recorder: " in said[1], f"{recorders} {said}")


def recorders_of(pid):
    """Recorders that measure already, without rights, below the process that keeps dumps."""
    found = [child for keeper in children(pid) for child in children(keeper)]
    return [child for child in found if is_without_rights_of_files(status(f"/proc/{child}"))]


def is_without_rights_of_files(now):
    return now["NoNewPrivs"] == ["1"] and all(int(now[key][0], 16) == 0 for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"))


if __name__ == "__main__":
    main()
