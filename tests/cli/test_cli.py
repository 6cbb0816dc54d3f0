#!/usr/bin/env python3
"""The command line as people meet it: exit codes, messages, help, manual, completions. Prints TAP."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
SHELLS = ["bash", "elvish", "fish", "powershell", "zsh"]
CASES = []


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    return subprocess.run([SCHEDSCOPE, *args], capture_output=True, text=True, timeout=60, **kwargs)


def succeed(*args, **kwargs):
    result = run(*args, **kwargs)
    assert result.returncode == 0, f"{args}: exit {result.returncode}: {result.stderr}"
    assert result.stderr == "", result.stderr
    return result.stdout


def expect_refused(args, line, code=2):
    result = run(*args)
    assert result.stdout == "", result.stdout
    assert result.stderr == f"schedscope: {line}\n", f"{args}: {result.stderr!r}"
    assert result.returncode == code, f"{args}: exit {result.returncode}"


def need(program):
    if not shutil.which(program):
        raise tap.Skipped(f"{program} is not installed")
    return program


def shell(*command, **kwargs):
    """Runs a shell without the user's settings; returns what it printed."""
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": f"{os.path.dirname(SCHEDSCOPE)}:{os.environ['PATH']}", "HOME": home, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, **kwargs)
    assert result.returncode == 0 and not result.stderr, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def commands():
    """The names in the overview."""
    section = succeed("--help").split("\nCommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in section.splitlines() if not line.startswith("   ")]


def options(command):
    """The long options in the help of a command."""
    return re.findall(r"^ {2}(?:-\w, | {4})(--[\w-]+)", succeed(command, "--help"), re.M)


@case
def the_version_is_printed():
    assert re.fullmatch(r"schedscope \d+\.\d+\.\d+([~+]\d+\.g[0-9a-f]{8})?\n", succeed("--version"))
    assert succeed("-V") == succeed("--version")


@case
def the_overview_names_every_command():
    overview = succeed("--help")
    assert overview == succeed("-h") == succeed("help")
    assert {"generate-completions", "help"} <= set(commands())
    assert "generate-man" not in overview


@case
def every_command_explains_itself():
    for command in commands():
        text = succeed(command, "--help")
        assert text.startswith(f"Usage: schedscope {command} "), text
        assert text == succeed(command, "-h") == succeed("help", command)
        for part in ("  -h, --help ", f"man schedscope-{command}\n"):
            assert part in text, f"{command}: no {part!r}"


@case
def help_says_how_many_slices_the_kernel_side_keeps():
    header = (pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "src/abi/stat.h").read_text()
    kept = re.search(r"#define STAT_HISTORY +(\d+)", header).group(1)
    with tempfile.TemporaryDirectory() as folder:
        succeed("generate-man", "--output", folder)
        page = " ".join((pathlib.Path(folder) / "schedscope.1").read_text().split())
    reported = re.findall(r"from the last (\d+) slices", page)
    assert reported == [kept], (reported, kept)


@case
def help_fits_a_terminal_of_80_columns():
    for command in commands():
        text = succeed(command, "--help").split("\nExamples:\n")[0]
        assert max(len(line) for line in text.splitlines()) <= 80, command


@case
def without_a_command_it_runs_briefly_and_ends_by_itself():
    done = run()
    if os.geteuid() == 0:
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("events "), done.stdout
    else:
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr


@case
def the_nearest_command_is_suggested():
    expect_refused(["hepl"], "unknown command 'hepl'; did you mean 'help'?")
    expect_refused(["help", "generate"], "unknown command 'generate'; did you mean 'generate-completions'?")
    expect_refused(["xyzzy"], "unknown command 'xyzzy'; there are top, stat, record, profile, analyze, query, explain, diff, report, "
                   "export, convert, serve, mcp, doctor, generate-completions, help")


@case
def the_nearest_option_is_suggested():
    expect_refused(["--versoin"], "unknown option '--versoin'; did you mean '--version'?")
    expect_refused(["generate-completions", "--shel", "zsh"],
                   "unknown option '--shel'; did you mean '--shell'?")
    expect_refused(["generate-completions", "-x"],
                   "unknown option '-x'; see 'schedscope generate-completions --help'")


@case
def the_nearest_choice_is_suggested():
    expect_refused(["generate-completions", "--shell", "fsh"],
                   "option '--shell': 'fsh' is none of bash, elvish, fish, powershell, zsh; did you mean 'fish'?")


@case
def what_cannot_be_used_is_refused():
    expect_refused(["generate-completions", "x"],
                   "no completions are written for 'x'; there are bash, elvish, fish, powershell and zsh")
    expect_refused(["doctor", "x"], "unexpected argument 'x'; see 'schedscope doctor --help'")
    expect_refused(["generate-completions", "-s"],
                   "option '-s' needs a value: -s SHELL; see 'schedscope generate-completions --help'")
    expect_refused(["help", "help", "help"],
                   "help explains one command at a time; see 'schedscope help --help'")


@case
def a_word_cannot_drive_the_terminal():
    expect_refused(["\033[2J\n"], "unknown command '?[2J?'; there are top, stat, record, profile, analyze, query, explain, diff, report, "
                   "export, convert, serve, mcp, doctor, generate-completions, help")


@case
def a_full_disk_is_a_failure():
    with open("/dev/full", "w") as full:
        result = subprocess.run([SCHEDSCOPE, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1, result.returncode
    assert result.stderr == "schedscope: cannot write to standard output: No space left on device\n"


@case
def completions_go_to_a_file_or_to_stdout():
    with tempfile.TemporaryDirectory() as folder:
        for name in SHELLS:
            path = pathlib.Path(folder, name)
            assert succeed("generate-completions", "--shell", name, "--output", str(path)) == ""
            assert path.read_text() == succeed("generate-completions", "-s", name) != ""
        assert sorted(os.listdir(folder)) == SHELLS, "temporary files were left"
    assert succeed("generate-completions") == succeed("generate-completions", "-s", "bash") == succeed("generate-completions", "bash")
    expect_refused(["generate-completions", "zhs"], "no completions are written for 'zhs'; did you mean 'zsh'?")
    expect_refused(["generate-completions", "-s", "zsh", "bash"], "more than one shell is named; name one")


@case
def old_letters_are_taken_and_announced():
    done = run("analyze", "-l")
    assert done.stdout == succeed("analyze", "--list")
    assert done.stderr == "schedscope: warning: -l is an old name of --list: letters mean the same in all commands now\n", done.stderr


@case
def a_file_is_replaced_as_a_whole():
    with tempfile.TemporaryDirectory() as folder:
        real, link = pathlib.Path(folder, "real"), pathlib.Path(folder, "link")
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to("real")
        before = real.stat().st_ino
        succeed("generate-completions", "--output", str(link))
        assert link.is_symlink() and real.read_text().startswith("# bash")
        assert real.stat().st_ino != before, "the file was written in place"
        assert stat.S_IMODE(real.stat().st_mode) == 0o640
        succeed("generate-completions", "--output", str(pathlib.Path(folder, "new")), umask=0o027)
        assert stat.S_IMODE(pathlib.Path(folder, "new").stat().st_mode) == 0o640


@case
def what_is_no_file_is_not_replaced():
    assert succeed("generate-completions", "-o", "/dev/stdout") == succeed("generate-completions")
    succeed("generate-completions", "-o", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    expect_refused(["generate-completions", "-o", "/dev/full"],
                   "cannot write '/dev/full': No space left on device; check the path and its permissions", 1)


@case
def a_folder_that_is_missing_is_a_failure():
    with tempfile.TemporaryDirectory() as folder:
        why = "No such file or directory; check the path and its permissions"
        expect_refused(["generate-completions", "-o", f"{folder}/x/y"], f"cannot write '{folder}/x/y': {why}", 1)
        expect_refused(["generate-man", "-o", f"{folder}/x"], f"cannot write '{folder}/x/schedscope.1': {why}", 1)
        assert os.listdir(folder) == []


def bash_offers(*words):
    """What bash would offer for the last word, without the package bash-completion."""
    script = succeed("generate-completions", "--shell", "bash") + """
        complete -p schedscope >/dev/null || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _schedscope
        ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
        exit 0"""
    return shell("bash", "--norc", "--noprofile", "-c", script, "bash", "schedscope", *words).split()


@case
def bash_completes():
    shell("bash", "-n", input=succeed("generate-completions", "-s", "bash"))
    assert bash_offers("") == commands()
    for command in commands():
        assert bash_offers(command, "--") == options(command), command
    assert bash_offers("generate-completions", "--shell", "") == SHELLS
    assert bash_offers("generate-completions", "--shell", "=", "z") == ["zsh"]
    assert bash_offers("generate-completions", "-o", "/etc/passw").count("/etc/passwd") == 1
    assert bash_offers("help", "hel") == ["help"]
    assert bash_offers("analyze", "/etc/passw").count("/etc/passwd") == 1
    assert bash_offers("analyze", "/etc/passwd", "wakeup_l") == ["wakeup_latency"]
    assert bash_offers("query", "f", "-e", "sched_swi") == ["sched_switch"]
    assert bash_offers("stat", "-g", "sch") == ["schedstat"]
    assert bash_offers("generate-completions", "z") == ["zsh"]


@case
def zsh_loads():
    zsh = need("zsh")
    script = succeed("generate-completions", "-s", "zsh")
    shell(zsh, "-f", "-n", input=script)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "_schedscope")
        path.write_text(script)
        loaded = shell(zsh, "-f", "-c", "autoload -Uz compinit; fpath=($1 $fpath); compinit -u -D; "
                       "source $1/_schedscope; print $_comps[schedscope]; whence -w _schedscope_help",
                       "zsh", folder)
    assert loaded == "_schedscope\n_schedscope_help: function\n", loaded
    for command in commands():
        assert f"\n_schedscope_{command}() {{" in script
        assert all(option in script for option in options(command)), command


@case
def fish_completes():
    fish = need("fish")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "schedscope.fish")
        succeed("generate-completions", "-s", "fish", "-o", str(path))
        shell(fish, "--no-config", "-n", str(path))

        def offers(line):
            out = shell(fish, "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", str(path), line)
            return sorted(text.split("\t")[0] for text in out.splitlines())

        assert offers("schedscope ") == sorted(commands())
        for command in commands():
            assert offers(f"schedscope {command} --") == sorted(options(command)), command
        assert offers("schedscope generate-completions --shell ") == SHELLS
        assert "/etc/passwd" in offers("schedscope generate-completions -o /etc/passw")
        assert "wakeup_latency" in offers("schedscope analyze x wakeup_l")
        assert offers("schedscope query -e sched_swi") == ["sched_switch"]


def expect_balanced(script):
    """Brackets outside of single-quoted words (in which a quote is doubled) and comments match."""
    script = re.sub(r"'[^']*'|\"[^\"\n]*\"|^\s*#.*$", "", script, flags=re.M)
    stack = []
    for char in script:
        if char in "([{":
            stack.append(char)
        elif char in ")]}":
            assert stack and stack.pop() + char in ("()", "[]", "{}"), f"unmatched {char}"
    assert not stack, stack


@case
def elvish_is_well_formed():
    script = succeed("generate-completions", "-s", "elvish")
    expect_balanced(script)
    assert "set edit:completion:arg-completer[schedscope] = {|@words|" in script
    for command in commands():
        assert f"&'{command}'={{" in script
        assert all(f"candidate '{option}' " in script for option in options(command)), command


@case
def powershell_is_well_formed():
    script = succeed("generate-completions", "-s", "powershell")
    expect_balanced(script)
    assert "Register-ArgumentCompleter -Native -CommandName 'schedscope' -ScriptBlock {" in script
    for command in commands():
        assert f"\n        '{command}' {{" in script
        assert all(f"Candidate '{option}' " in script for option in options(command)), command


@case
def every_command_has_a_page():
    with tempfile.TemporaryDirectory() as folder:
        assert succeed("generate-man", "--output", folder) == ""
        pages = sorted(os.listdir(folder))
        assert pages == sorted(["schedscope.1"] + [f"schedscope-{name}.1" for name in commands()]), pages
        for name in commands():
            text = pathlib.Path(folder, f"schedscope-{name}.1").read_text()
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
                assert f"\n.SH {section}\n" in text, f"{name}: no {section}"
            for option in options(name):
                assert option.replace("-", "\\-") in text, f"{name}: no {option}"


@case
def every_page_is_built_and_installed():
    listed = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"], "man", "meson.build").read_text()
    names = re.search(r"foreach command : \[(.*?)\]", listed, re.S).group(1)
    assert sorted(re.findall(r"'([\w-]+)'", names)) == sorted(commands()), "man/meson.build is behind"


@case
def mandoc_finds_nothing_to_say():
    mandoc = need("mandoc")
    with tempfile.TemporaryDirectory() as folder:
        succeed("generate-man", "--output", folder)
        for page in sorted(os.listdir(folder)):
            assert shell(mandoc, "-Tlint", "-Wwarning", os.path.join(folder, page)) == ""


sys.exit(tap.run_cases(CASES))
