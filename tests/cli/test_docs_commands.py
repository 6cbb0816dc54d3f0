#!/usr/bin/env python3
"""Every command of schedscope that README.md, the pages and the help show has options that exist, with values that they take. Prints TAP.

Each is run with --help at the end of its options: these are parsed first, and nothing is done.
"""
import concurrent.futures
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import run_cases  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
SHOWN = re.compile(r"(?m)^(?:    |\$ |\s*\$ )(?:[A-Z_]+=\S+ +)*((?:schedscope|build/schedscope) .*?(?:\\\n.*?)*)$")
INLINE = re.compile(r"`((?:schedscope |(?:stat|record|profile|analyze|query|explain|diff|report|export|convert|serve|mcp|top) (?=[-A-Zf/]))[^`\n]*)`")
END = {"|", "||", "&&", ";", "&", ">", "2>", "<", ")", "do", "done"}
PLACE = re.compile(r"^[A-Z]+$")  # PID, TIME: a reader puts something there


def pages():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def words_of(text):
    """What is before the end of the command; None for what is no whole command."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    try:
        for word in lexer:
            if word in END or word.startswith((">", "<(")):
                break
            words.append(word)
    except ValueError:
        return None  # a quote goes on in another line
    return words[words[0].endswith("schedscope"):]


def examples():
    """(where, words) of all commands that are shown."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        outputs = BLOCK.findall(text)
        for found in SHOWN.findall(BLOCK.sub("", text)) + [one for block in outputs for one in SHOWN.findall(block)] + INLINE.findall(text):
            yield page.name, found
    commands = [line.split()[0] for line in subprocess.run([SCHEDSCOPE, "--help"], capture_output=True, text=True, check=True).stdout.splitlines()
                if re.match(r"  [a-z]", line) and " " in line.strip()]
    for command in commands:
        done = subprocess.run([SCHEDSCOPE, command, "--help"], capture_output=True, text=True, check=False)
        for found in re.findall(r"(?m)^      (schedscope .*)$", done.stdout if done.returncode == 0 else ""):
            yield f"{command} --help", found


@functools.cache
def help_of(command):
    return subprocess.run([SCHEDSCOPE, command, "--help"], capture_output=True, text=True, check=False).stdout


def is_left_open(words):
    """The text names an option, without the value that it takes."""
    return words[-1].startswith("-") and len(words) > 1 and re.search(rf"(?m)(^|[ ,]){re.escape(words[-1])}(, --[a-z-]+)? [A-Z]", help_of(words[0]))


def fault(example):
    """Why the command is refused; None: it is not, or says only in part what is run."""
    where, text = example
    words = words_of(text)
    if not words or "..." in text or "$" in text:
        return None
    at = words.index("--") if "--" in words else len(words)
    if is_left_open(words[:at]):
        return None
    done = subprocess.run([SCHEDSCOPE, *words[:at], "--help", *words[at:]], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    if done.returncode == 0 and not done.stderr:
        return None
    if any(f"'{word}'" in done.stderr for word in words if PLACE.match(word)):
        return None
    return f"{where}: {text}: exit {done.returncode}: {done.stderr.strip()}"


def what_is_wrong_is_found():
    for text in ("schedscope stat --nosuch", "schedscope stat -r abc", "query FILE -g comm", "schedscope nosuch", "schedscope record --duration 1x -- ls"):
        assert fault(("here", text)), text
    for text in ("schedscope stat -p PID", "analyze FILE blame -c 'a b'", "schedscope record -o x -- ls -l", "schedscope stat -r 1 | head"):
        assert not fault(("here", text)), text


def commands_of_pages_and_help_are_accepted():
    shown = sorted(set(examples()))
    assert len(shown) > 200, len(shown)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = [why for why in pool.map(fault, shown) if why]
    assert not bad, "\n" + "\n".join(bad)


sys.exit(run_cases([what_is_wrong_is_found, commands_of_pages_and_help_are_accepted]))
