"""JSON from several threads and processes at once, and after one of them was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.core import json

ROOT = Path(__file__).resolve().parents[2]
# Each round has types of its own, one in the other: between the two msgspec runs Python, and threads change.
PROGRAM = """
import sys, threading, types
from gpu_assistant.core import json

SOURCE = \"\"\"
from __future__ import annotations
import msgspec
class Inner(msgspec.Struct, frozen=True):
    number: int = 0
    words: tuple[str, ...] = ()
class Outer(msgspec.Struct, frozen=True):
    first: tuple[int, ...] = ()
    inner: Inner | None = None
    last: tuple[int, ...] = ()
\"\"\"
sys.setswitchinterval(1e-6)
bad = []
for number in range(300):
    module = types.ModuleType(f"round{number}")
    sys.modules[module.__name__] = module
    exec(SOURCE, module.__dict__)
    together = threading.Barrier(4)

    def meet():
        together.wait()
        decoded = WAY(b'{"first":[1],"inner":{"number":2},"last":[3,4]}', module.Outer)
        if (decoded.inner.number, decoded.last) != (2, (3, 4)):
            bad.append(decoded)

    threads = [threading.Thread(target=meet) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
raise SystemExit(1 if bad else 0)
"""
WAYS = {"decode": "json.decode", "convert": "(lambda data, kind: json.convert(json.decode(data, dict), kind))"}


@pytest.mark.parametrize("way", WAYS)
def test_concurrent_first_decode_is_safe(way: str) -> None:
    command = [sys.executable, "-c", PROGRAM.replace("WAY", WAYS[way])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_partial_files_of_killed_writers_are_removed(tmp_path: Path) -> None:
    left = [tmp_path / f".{name}.4711.partial" for name in ("list.txt", "note.json")]
    others = [tmp_path / name for name in (".list.txt.user.partial", ".listXtxt.1.partial", ".other.txt.4711.partial")]
    for path in (*left, *others):
        path.touch()
    json.remove_partial_files(tmp_path, {"list.txt", "note.json"})
    assert sorted(tmp_path.iterdir()) == sorted(others)
