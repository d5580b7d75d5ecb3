"""A download killed at random moments and begun again each time: `python benchmarks/download_kills.py`.

Counts what the server sent in all. Target: at most the size and 8 MiB for each kill, and the file right in the end.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from download_speed import DOWNLOAD, HERE, serving

MAX_EXTRA_PER_KILL = 8 << 20


def main() -> None:
    """Kill, go on, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--rate", type=int, default=12 << 20, help="bytes a second for each connection")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random_seconds = random.Random(options.seed).uniform
    size = options.mebibytes << 20
    with tempfile.TemporaryDirectory() as temporary:
        file, target, sha256 = Path(temporary) / "file", Path(temporary) / "got", hashlib.sha256()
        with file.open("wb") as out:
            for _ in range(options.mebibytes):
                block = os.urandom(1 << 20)
                sha256.update(block)
                out.write(block)
        with serving(file, "--rate", str(options.rate), "--latency", "0.01") as url:
            command = [sys.executable, "-c", DOWNLOAD, url, str(target), sha256.hexdigest()]
            killed = 0
            while killed < options.kills:
                child = subprocess.Popen(command, cwd=HERE.parent, stdout=subprocess.DEVNULL)
                part = target.with_name("got.part")
                before = part.stat().st_blocks if part.exists() else 0
                # Not while it still starts: a kill then costs nothing and shows nothing.
                while child.poll() is None and (part.stat().st_blocks if part.exists() else 0) <= before:
                    time.sleep(0.01)
                time.sleep(random_seconds(0, size / (8 * options.rate) / options.kills))
                if child.poll() is not None:
                    break
                child.kill()
                child.wait()
                killed += 1
            last = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True)
            sent = int(urllib.request.urlopen(url.replace("/file", "/sent"), timeout=10).read())
        with target.open("rb") as complete:
            right = hashlib.file_digest(complete, "sha256").hexdigest() == sha256.hexdigest()
    extra = sent - size
    print(f"{options.mebibytes} MiB, {killed} kills: the file is {'right' if right else 'WRONG'}")
    print(f"sent beyond the size: {extra / 2**20:.1f} MiB, {extra / 2**20 / max(1, killed):.2f} MiB a kill (target 8)")
    print(f"memory of the last run: {int(last.stdout.split()[1]) / 1e6:.0f} MB")
    if not right or extra > MAX_EXTRA_PER_KILL * killed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
