#!/usr/bin/env python3
"""take.py IN OUT [OLD=NEW...]: copies a recording to this folder, packed if OUT ends in .gz or .zst.

Names of the services of the machine that recorded, which mean nothing elsewhere, are replaced by others of the same length: nothing else
of the file changes. What is compressed inside of the file cannot be changed that way.
"""
import gzip
import pathlib
import subprocess
import sys


def main():
    """Command line."""
    data, out = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
    for word in sys.argv[3:]:
        old, new = (part.encode() for part in word.split("="))
        if len(old) != len(new):
            raise SystemExit(f"{word}: both must have the same length")
        data = data.replace(old, new)
    if out.suffix == ".gz":
        data = gzip.compress(data, 9, mtime=0)
    elif out.suffix == ".zst":
        data = subprocess.run(["zstd", "-19", "-c", "-q"], input=data, capture_output=True, check=True).stdout
    out.write_bytes(data)
    print(f"{out.name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
