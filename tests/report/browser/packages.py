"""What drives browsers comes from npm, at the versions of package-lock.json, into the build folder, once."""
import fcntl
import os
import pathlib
import platform
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent
ROOT = SOURCE.parents[2]
WANTED = (SOURCE / "package-lock.json").read_text()
INSTALL_S = 600


def is_installed(folder):
    """What is wanted is there."""
    stamp = folder / "installed.json"
    return stamp.exists() and stamp.read_text() == WANTED


def place():
    """The folder of the packages. Another build folder, such as that of sanitizers, takes what the usual one has."""
    folders = [pathlib.Path(os.environ.get("BROWSER_NODE_DIR", ROOT / "build/tests/report/browser")), ROOT / "build/tests/report/browser"]
    return next(filter(is_installed, folders), folders[0])


def node(folder):
    """Node.js as the packages want it."""
    return folder / "node_modules" / f"node-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}" / "bin/node"


def install(folder):
    """Why the packages cannot be had; None when they are there. Tests of several browsers ask at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for file in [*SOURCE.glob("*.mjs"), *SOURCE.glob("package*.json")]:
            copy = folder / file.name
            if not copy.exists() or copy.read_bytes() != file.read_bytes():
                shutil.copy(file, copy)
        if is_installed(folder):
            return None
        if not shutil.which("npm"):
            return "there is no npm"
        words = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        except subprocess.TimeoutExpired:
            return "npm takes too long"
        if done.returncode or not node(folder).exists():
            return "npm: " + (done.stderr.strip().splitlines() or ["no reason given"])[0]
        (folder / "installed.json").write_text(WANTED)
    return None
