"""What the tests in virtual machines share: boots one once, and keeps what it left."""
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
import live

RUN = HERE.parent.parent / "tools/vm/run"
SKIPPED = 77
ARCH = os.environ.get("SCHEDSCOPE_VM_ARCH", platform.machine())
# A clock that counts instructions; QEMU's x86-64 stands still with it when the kernel changes its code.
COUNTING = () if ARCH == "x86_64" else ("--icount",)
TIMEOUT_S = 240


def skip(why):
    """What this kind of machine cannot have is no failure."""
    live.CAN_RUN = False
    raise live.Skip(why)


class Guest:
    """A virtual machine that runs a script of this folder, when first asked for a file that it leaves."""

    def __init__(self, kernel, script, *args, options=COUNTING):
        self.kernel = kernel
        self._words = [str(RUN), "--kernel", kernel, "--timeout", str(TIMEOUT_S), *options]
        self._command = ["python3", str(HERE / script), *args]
        self._folder = tempfile.TemporaryDirectory(prefix="schedscope-vm-out-")
        self._talk = live.once(self._boot)

    def _boot(self):
        out = subprocess.run([*self._words, "--out", self._folder.name, *self._command], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, check=False)
        if out.returncode == SKIPPED:
            skip(out.stderr.strip())  # no image
        print("".join(f"# {line}\n" for line in out.stderr.splitlines()), end="")
        return out.stderr

    def path(self, name):
        """Where the file is; fails with the guest's words if it is not there."""
        talk = self._talk()
        path = pathlib.Path(self._folder.name, name)
        live.expect(path.exists(), f"the guest left no {name}: {talk[-1500:]}")
        return path
