"""How fast a file comes, against aria2 on the same server in the same run: `python benchmarks/download_speed.py`.

GPU Assistant hashes the file with SHA-256 while it comes; aria2 (`-x8 -s8`) is run without a checksum and with one. Two
servers: loopback as fast as it goes, and 8 MiB/s a connection with 40 ms until an answer. The runs alternate; figures
are medians, and what counts is the ratio. Beside them the hash of the same file alone, from memory: on a processor
without instructions for SHA-256 (`sha_ni` in /proc/cpuinfo) nothing that checks can come faster than that. Each runs as
a process of its own, whose whole life is timed; of GPU Assistant's the download alone is timed, too, since the program
that asks for it is running already.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOWNLOAD = """
import sys, threading, time, resource
from pathlib import Path
import requests
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.fetch.downloader import Downloader
url, path, sha256 = sys.argv[1:]
began = time.perf_counter()
file = RemoteFile(urls=(url,), name="file", sha256=sha256)
Downloader([DownloadRequest(file=file, path=Path(path))], cancel=threading.Event()).run()
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


HASH = """
import hashlib, sys
with open(sys.argv[1], "rb") as file:
    hashlib.file_digest(file, "sha256")
"""


@contextmanager
def serving(file: Path, *options: str) -> Iterator[str]:
    """The address of a server of the file."""
    command = [sys.executable, str(HERE / "file_server.py"), str(file), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/file"
    finally:
        server.kill()
        server.wait()


def timed(command: Sequence[str]) -> tuple[float, str]:
    """Seconds, and what the command printed."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    return seconds, done.stdout


def compare(name: str, url: str, file: Path, *, sha256: str, rounds: int, aria2: str) -> None:
    """Alternate, and print the medians."""
    folder, size = file.parent, file.stat().st_size
    target = folder / "got"
    plain = [aria2, "-x8", "-s8", "-q", "--allow-overwrite=true", "--file-allocation=none", "-d", str(folder)]
    plain += ["-o", "got", url]
    ways = {
        "GPU Assistant with sha256": [sys.executable, "-c", DOWNLOAD, url, str(target), sha256],
        "aria2": plain,
        "aria2 with --checksum": [*plain, f"--checksum=sha-256={sha256}"],
    }
    hashing = []
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    alone = []
    memory = 0
    for _ in range(rounds):
        for way, command in ways.items():
            target.unlink(missing_ok=True)
            elapsed, output = timed(command)
            seconds[way].append(elapsed)
            if way.startswith("GPU Assistant"):
                download_s, used = output.split()
                alone.append(float(download_s))
                memory = max(memory, int(used))
            if target.stat().st_size != size:
                raise SystemExit(f"{way}: a wrong file")
        hashing.append(timed([sys.executable, "-c", HASH, str(file)])[0])
    medians = {way: statistics.median(each) for way, each in seconds.items()}
    print(f"{name}: {size / 2**20:.0f} MiB, medians of {rounds}")
    for way, median in medians.items():
        print(f"  {way:26} {size / 2**20 / median:8.1f} MiB/s  {median:6.2f} s")
    alone_s = statistics.median(hashing)
    print(f"  {'sha256 alone':26} {size / 2**20 / alone_s:8.1f} MiB/s  {alone_s:6.2f} s")
    assistant_s, *others = medians.values()
    download = statistics.median(alone)
    print(f"  {'GPU Assistant, running':26} {size / 2**20 / download:8.1f} MiB/s  {download:6.2f} s")
    print(f"  GPU Assistant / aria2 {others[0] / assistant_s:.2f}, / aria2 with checksum {others[1] / assistant_s:.2f}")
    print(f"  once it runs / aria2 {others[0] / download:.2f}")
    print(f"  GPU Assistant / the slower of aria2 and sha256 alone {max(others[0], alone_s) / assistant_s:.2f}")
    print(f"  GPU Assistant's memory at most {memory / 1e6:.0f} MB", flush=True)


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mebibytes", type=int, default=1024, help="for loopback; the slow server gives half of it")
    arguments = parser.parse_args()
    aria2 = shutil.which("aria2c")
    if aria2 is None:
        raise SystemExit("aria2c is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, share, options in (
            ("loopback", 1, ()),
            ("8 MiB/s a connection, 40 ms", 2, ("--rate", str(8 << 20), "--latency", "0.04")),
        ):
            size = (arguments.mebibytes << 20) // share
            file, expected = folder / "file", hashlib.sha256()
            with file.open("wb") as out:
                for _ in range(size >> 20):
                    block = os.urandom(1 << 20)
                    expected.update(block)
                    out.write(block)
            with serving(file, *options) as url:
                compare(name, url, file, sha256=expected.hexdigest(), rounds=arguments.rounds, aria2=aria2)


if __name__ == "__main__":
    main()
