#!/usr/bin/env python3
"""Packages without a system to install them in: versions, units, manifests, fields, capabilities, symbols of glibc."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/live"))
from live import NotHere, case, expect, main

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
UNITS = ["schedscope-serve", "schedscope-record"]
NEXT = re.search(r"^ *version: '([\d.]+)'", (SOURCE / "meson.build").read_text(), re.M).group(1)
# The package of each dependency that the build looks for.
PACKAGE_OF = {"libbpf": "libbpf-dev", "jansson": "libjansson-dev", "libmicrohttpd": "libmicrohttpd-dev", "zlib": "zlib1g-dev", "libdeflate": "libdeflate-dev",
              "libzstd": "libzstd-dev", "libpcre2-8": "libpcre2-dev", "libelf": "libelf-dev", "libdw": "libdw-dev",
              "liblzma": "liblzma-dev", "sqlite3": "libsqlite3-dev", "ncursesw": "libncurses-dev", "iberty": "libiberty-dev",
              "threads": None, "m": None, "cmocka": None}


def run(*command, code=0, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120, **kwargs)
    expect(done.returncode == code, f"{command}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def need(program):
    if not shutil.which(program):
        raise NotHere(f"{program} is not installed")
    return program


def unit(name):
    """What the unit sets, by key; later lines of a key win."""
    text = (SOURCE / f"packaging/systemd/{name}.service").read_text()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


def settings():
    """The options of the units."""
    text = (SOURCE / "packaging/systemd/schedscope.default").read_text()
    return dict(re.findall(r'^(\w+)="(.*)"$', text, re.M))


def expect_options(command, words):
    """Each option among the words is one of the command."""
    done = subprocess.run([SCHEDSCOPE, command, "--help"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise NotHere(f"this build has no command {command}")
    known = set(re.findall(r"(?<![\w-])--?[\w-]+", done.stdout))
    unknown = [word for word in words if word.startswith("-") and word not in known]
    expect(not unknown, f"{command} has no {unknown}")


class Repository:
    """A small tree with tools/version in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "tools").mkdir()
        shutil.copy(SOURCE / "tools/version", self.folder / "tools")

    def git(self, *words):
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        return run("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", *words,
                   cwd=self.folder, env=env).strip()

    def commit(self):
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "--short=8", "HEAD")

    def version(self, planned="0.2.0"):
        return run(self.folder / "tools/version", planned).strip()


@case
def a_version_follows_tags_and_sorts_by_time():
    with tempfile.TemporaryDirectory() as folder:
        tree = Repository(folder)
        tree.git("init", "-q")
        found = []
        commit = tree.commit()
        found.append(tree.version("0.1.0"))
        expect(found[-1] == f"0.1.0~1.g{commit}", found)
        tree.git("tag", "v0.1.0")
        found.append(tree.version("0.1.0"))
        expect(found[-1] == "0.1.0", found)
        commit = tree.commit()
        found.append(tree.version("0.1.0"))
        expect(found[-1] == f"0.1.0+1.g{commit}", found)
        found.append(tree.version("0.2.0"))
        expect(found[-1] == f"0.2.0~1.g{commit}", found)
        tree.git("tag", "v0.2.0")
        found.append(tree.version("0.2.0"))
        expect(found[-1] == "0.2.0", found)
        for older, newer in zip(found, found[1:]):
            run(need("dpkg"), "--compare-versions", older, "lt", newer)


@case
def outside_of_git_the_version_is_that_of_the_archive():
    with tempfile.TemporaryDirectory() as folder:
        tree = Repository(folder)
        expect(tree.version() == "0.2.0", tree.version())
        (tree.folder / ".version").write_text("0.1.7+3.g01234567\n")
        expect(tree.version() == "0.1.7+3.g01234567", tree.version())


@case
def a_tree_inside_of_another_repository_is_not_of_it():
    with tempfile.TemporaryDirectory() as folder:
        outer = Repository(folder)
        outer.git("init", "-q")
        outer.commit()
        (outer.folder / "inner").mkdir()
        expect(Repository(outer.folder / "inner").version() == "0.2.0", "the version of another repository was taken")


@case
def all_name_the_same_next_release():
    changes = re.search(r"^## (\S+)", (SOURCE / "CHANGELOG.md").read_text(), re.M).group(1)
    debian = re.search(r"^schedscope \((\S+)\)", (SOURCE / "debian/changelog").read_text()).group(1)
    image = set(re.findall(r"image: schedscope:(\S+)", (SOURCE / "packaging/container/daemonset.yaml").read_text()))
    expect((changes, debian, image) == (NEXT, NEXT, {NEXT}), f"{NEXT}: {changes}, {debian}, {image}")
    expect(run(SCHEDSCOPE, "--version").startswith(f"schedscope {NEXT}"), run(SCHEDSCOPE, "--version"))


@case
def the_maintainer_is_named_in_one_place():
    control = re.search(r"^Maintainer: (.*)$", (SOURCE / "debian/control").read_text(), re.M).group(1)
    if "UNRELEASED" not in (SOURCE / "debian/changelog").read_text().splitlines()[0]:
        return  # the entry of a release is signed by its releaser
    signed = re.search(r"^ -- (.*?)  ", (SOURCE / "debian/changelog").read_text(), re.M).group(1)
    expect(signed == control, f"debian/changelog has {signed}, debian/control {control}")
    expect("DEBEMAIL" in (SOURCE / "CONTRIBUTING.md").read_text(), "CONTRIBUTING.md does not say whose address packages have")


@case
def systemd_accepts_the_units():
    need("systemd-analyze")
    with tempfile.TemporaryDirectory() as folder:
        for name in UNITS:
            text = (SOURCE / f"packaging/systemd/{name}.service").read_text()
            expect("ExecStart=/usr/bin/schedscope " in text, text)
            path = pathlib.Path(folder) / f"{name}.service"
            path.write_text(text.replace("/usr/bin/schedscope", SCHEDSCOPE))
            # It looks for the page of the manual as well, which is not installed here.
            said = run("systemd-analyze", "verify", "--man=no", path)
            expect(name not in said, said)
            path.write_text(text.replace("/usr/bin/schedscope", SCHEDSCOPE) + "[Service]\nProtectSystem=perhaps\n")
            said = run("systemd-analyze", "verify", "--man=no", path)
            expect("Failed to parse" in said, f"a wrong value passes: {said}")


@case
def the_package_has_these_units():
    """What debhelper is given, by the rules of the package."""
    need("make")
    with tempfile.TemporaryDirectory() as folder:
        tree, fake = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "bin"
        for name in ("debian", "packaging"):
            shutil.copytree(SOURCE / name, tree / name, symlinks=True)
        fake.mkdir()
        debhelper = fake / "dh_installsystemd"
        debhelper.write_text('#!/bin/sh\nname=${1#--name=}\ncp "debian/schedscope.$name.service" "got.$name"\n')
        debhelper.chmod(0o755)
        run("make", "-f", "debian/rules", "override_dh_installsystemd", cwd=tree, env={**os.environ, "PATH": f"{fake}:{os.environ['PATH']}"})
        for name in UNITS:
            unit_text = (SOURCE / f"packaging/systemd/{name}.service").read_text()
            expect((tree / f"got.{name}").read_text() == unit_text, f"{name}: {(tree / f'got.{name}').read_text()}")
            expect(f"debian/schedscope.{name}.service" in (tree / "debian/clean").read_text().split(), f"the copy of {name} is left behind")


@case
def no_file_is_what_was_left_of_a_link():
    """A tree that was copied without its links has their targets as texts."""
    names = run("git", "-C", SOURCE, "ls-files", "-z").split("\0") if (SOURCE / ".git").exists() else []
    for path in (SOURCE / name for name in names if name and not name.startswith("fuzz/corpus/")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > 200:
            continue
        text = path.read_bytes()
        expect(not text or b"\n" in text or b"\0" in text or not (path.parent / os.fsdecode(text)).exists(), f"{path}: {text}")


@case
def the_units_are_confined():
    need("systemd-analyze")
    for name in UNITS:
        path = SOURCE / f"packaging/systemd/{name}.service"
        said = run("systemd-analyze", "security", "--offline=true", path)
        exposure = float(re.search(r"Overall exposure level for \S+: ([\d.]+)", said).group(1))
        expect(exposure <= 2.6, said)


@case
def capabilities_are_the_same_everywhere():
    header = (SOURCE / "src/sys/rights/caps.h").read_text()
    wanted = set(re.findall(r"CAP_\w+", re.search(r"#define CAPS_TRACE .*", header).group(0)))
    wanted |= set(re.findall(r"CAP_\w+", re.search(r"#define CAPS_INSTALL.*?\n\n", header, re.S).group(0)))
    installed = re.search(r"^capabilities=(\S+)", (SOURCE / "debian/schedscope.postinst").read_text(), re.M).group(1)
    expect(set(installed.upper().split(",")) == wanted, f"{installed} {wanted}")
    for name in UNITS:
        for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
            expect(set(unit(name)[key].split()) == wanted, f"{name} {key}: {unit(name)[key]}")
    manifest = (SOURCE / "packaging/container/daemonset.yaml").read_text()
    for added in re.findall(r"add: \[(.*)\]", manifest):
        expect({f"CAP_{word}" for word in added.split(", ")} >= wanted, added)


@case
def options_of_the_recorder_exist():
    words = f"{unit('schedscope-record')['ExecStart']} {settings()['SCHEDSCOPE_RECORD']}".split()
    expect_options("record", words[2:])


@case
def options_of_the_server_exist():
    expect_options("serve", settings()["SCHEDSCOPE_SERVE"].split())


def manifest():
    """The documents of the manifest; by Debian's Python, which may have a reader of YAML where ours has none."""
    program = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
    for python in (sys.executable, "/usr/bin/python3"):
        with open(SOURCE / "packaging/container/daemonset.yaml", encoding="utf-8") as text:
            done = subprocess.run([python, "-c", program], stdin=text, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout)
        expect("No module named 'yaml'" in done.stderr, done.stderr)
    raise NotHere("no Python here reads YAML (python3-yaml)")


@case
def the_manifest_is_consistent():
    space, daemon = manifest()
    expect((space["kind"], daemon["kind"]) == ("Namespace", "DaemonSet"), "kinds")
    expect(daemon["metadata"]["namespace"] == space["metadata"]["name"], "namespaces")
    spec = daemon["spec"]["template"]["spec"]
    labels = daemon["spec"]["template"]["metadata"]["labels"]
    expect(daemon["spec"]["selector"]["matchLabels"].items() <= labels.items(), "the selector does not match")
    volumes = {volume["name"] for volume in spec["volumes"]}
    used = {mount["name"] for container in spec["containers"] for mount in container["volumeMounts"]}
    expect(volumes == used, f"{volumes} {used}")
    for container in spec["containers"]:
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        for word in container["args"]:
            if word.startswith("/"):
                expect(any(word.startswith(mount) for mount in mounts), f"{word} is on no volume")


@case
def options_of_the_manifest_exist():
    for container in manifest()[1]["spec"]["template"]["spec"]["containers"]:
        expect_options(container["args"][0], container["args"][1:])


def fields(paragraph):
    """The fields of a paragraph of debian/control."""
    return dict(re.findall(r"^([\w-]+):((?:.*\n)(?: .*\n)*)", paragraph + "\n", re.M))


@case
def the_control_file_has_what_the_build_needs():
    source, binary = (SOURCE / "debian/control").read_text().strip().split("\n\n")
    built_with = set(re.findall(r"[a-z][a-z0-9.+-]+", fields(source)["Build-Depends"]))
    used = re.findall(r"(?:dependency|find_library)\('([\w.-]+)'", (SOURCE / "meson.build").read_text())
    expect(len(used) > 10, used)
    for name in used:
        expect(name in PACKAGE_OF, f"which package has {name}? Add it here and to debian/control")
        expect(PACKAGE_OF[name] is None or PACKAGE_OF[name] in built_with, f"Build-Depends lacks {PACKAGE_OF[name]}")
        listed = (SOURCE / "tools/package/dist").read_text()
        expect(PACKAGE_OF[name] in (None, "libmicrohttpd-dev") or PACKAGE_OF[name] in listed, f"dist lacks {PACKAGE_OF[name]}")
    depends = fields(binary)["Depends"]
    for word in ("adduser", "libcap2-bin", "${shlibs:Depends}", "${misc:Depends}"):
        expect(word in depends, f"Depends lacks {word}")


@case
def scripts_of_the_package_are_shell():
    for name in ("postinst", "prerm", "postrm"):
        path = SOURCE / f"debian/schedscope.{name}"
        run("sh", "-n", path)
        expect("#DEBHELPER#" in path.read_text(), f"{name} leaves out what debhelper adds")


@case
def no_failure_is_lost_in_a_message():
    """A shell goes on when a command fails whose output is a part of a word of another."""
    for path in sorted((SOURCE / "tools/package").iterdir()):
        lost = re.findall(r'^\s*say "[^\n]*\$\((?:root_\w+|tools/)[^\n]*', path.read_text(), re.M)
        expect(not lost, f"{path.name}: {lost}")


@case
def newer_symbols_and_other_libraries_are_refused():
    need("objdump")
    tool = SOURCE / "tools/package/check-glibc"
    said = run(tool, "/bin/true", "99.0")
    expect(re.match(r"needs glibc \d+\.\d+ or newer, and libc\.so\.6", said), said)
    expect("may need 2.1 at most" in run(tool, "/bin/true", "2.1", code=1), "a newer symbol passes")
    newest = re.search(r"glibc (\S+)", said).group(1)
    run(tool, "/bin/true", newest)
    expect("not of glibc: " in run(tool, sys.executable if len(run("ldd", sys.executable).splitlines()) > 5 else SCHEDSCOPE,
                                   "99.0", code=1), "another library passes")


@case
def lintian_has_no_error_in_the_source():
    need("lintian")
    need("dpkg-source")
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "schedscope"
        # The rest of the source takes it a minute, and has nothing that it judges.
        for name in ("debian", "packaging"):
            shutil.copytree(SOURCE / name, tree / name, symlinks=True)
        run("dpkg-source", "-b", tree, cwd=folder)
        dsc = next(pathlib.Path(folder).glob("*.dsc"))
        said = subprocess.run(["lintian", "--fail-on", "error", "--allow-root", dsc], capture_output=True, text=True,
                              check=False, timeout=200)
        expect(said.returncode == 0, said.stdout + said.stderr)


main()
