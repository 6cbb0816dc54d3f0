"""Readers of Parquet come from npm, at the versions of package-lock.json, into the build folder, once."""
import fcntl
import json
import os
import pathlib
import platform
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent
ROOT = SOURCE.parents[2]
INSTALL_S = 600
GCC_13 = b"GLIBCXX_3.4.32"  # of its C++ library


def can_run_chdb():
    """Its library is published for some machines only, wants the C++ library of GCC 13, and takes half a gigabyte."""
    libraries = pathlib.Path("/usr/lib").glob("*/libstdc++.so.6")
    return platform.machine() == "x86_64" and any(GCC_13 in path.read_bytes() for path in libraries)


def chdb_root():
    """The folder that chdb-root has made, if CHDB_ROOT names one."""
    name = os.environ.get("CHDB_ROOT")
    return pathlib.Path(name).resolve() if name else None


def is_emulated():
    """chdb is for x86-64: elsewhere all of Node runs by QEMU, and takes its time."""
    return bool(chdb_root()) and platform.machine() != "x86_64"


def has_chdb():
    return bool(chdb_root()) or can_run_chdb()


def chdb_node():
    """The words that start a Node which has chdb, and the folder of its packages."""
    folder = chdb_root()
    if not folder:
        return [shutil.which("node")], place()
    copy_scripts(folder / "node")
    root = folder / "root"
    if is_emulated():
        start = ["qemu-x86_64-static", "-cpu", "max", "-L", str(root), str(root / "usr/bin/node")]
    else:
        start = [str(root / "lib64/ld-linux-x86-64.so.2"), "--library-path", str(root / "lib/x86_64-linux-gnu"), shutil.which("node")]
    return start, folder / "node"


def without_chdb(text):
    """A package.json, or the lock of one."""
    held = json.loads(text)
    for wanted in (held, held.get("packages", {}).get("", {})):
        wanted.get("dependencies", {}).pop("chdb", None)
    held["packages"] = {path: one for path, one in held.get("packages", {}).items() if "chdb" not in path}
    return json.dumps(held)


def wanted(name):
    text = (SOURCE / name).read_text(encoding="utf-8")
    return text if can_run_chdb() else without_chdb(text)


WANTED = wanted("package-lock.json")


def is_installed(folder):
    """What is wanted is there."""
    stamp = folder / "installed.json"
    return stamp.exists() and stamp.read_text() == WANTED


def place():
    """The folder of the packages. Another build folder, such as that of sanitizers, takes what the usual one has."""
    usual = ROOT / "build/tests/parquet/readers"
    folders = [pathlib.Path(os.environ.get("READERS_NODE_DIR", usual)), usual]
    return next(filter(is_installed, folders), folders[0])


def copy_scripts(folder):
    """To where the packages are: that is where Node looks for them."""
    for file in SOURCE.glob("*.mjs"):
        copy = folder / file.name
        if not copy.exists() or copy.read_bytes() != file.read_bytes():
            shutil.copy(file, copy)


def install(folder):
    """Why the packages cannot be had; None when they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy_scripts(folder)
        if is_installed(folder):
            return None
        if not shutil.which("npm") or not shutil.which("node"):
            return "there is no npm"
        for name in ("package.json", "package-lock.json"):
            (folder / name).write_text(wanted(name), encoding="utf-8")
        # Not "ci": that wants packages of all architectures in the lock, and chdb names some that are not published.
        words = ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        except subprocess.TimeoutExpired:
            return "npm takes too long"
        if done.returncode or not (folder / "node_modules/hyparquet").exists():
            return "npm: " + (done.stderr.strip().splitlines() or ["no reason given"])[0]
        (folder / "installed.json").write_text(WANTED)
    return None
