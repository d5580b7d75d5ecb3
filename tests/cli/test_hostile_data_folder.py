"""A data folder in which somebody put pipes, devices, giants, links and broken JSON in the place of our files: each
command ends, with its answer or with one sentence, waits for nobody, fills no memory, and touches nothing outside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_assistant.core.paths import DataDir
from tests.cli.program import run_program

if sys.platform != "linux":
    pytest.skip("pipes and links that anybody may make", allow_module_level=True)

SECONDS = 100
# What a call needs without reading a giant into memory is about a third of it.
ADDRESS_SPACE_BYTES = 1_500_000_000
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("catalog", "show", "cuda"),
    ("bench", "--history"),
    ("uninstall", "--dry-run"),
    ("uninstall", "--all", "--dry-run"),
    ("monitor", "--csv", "CSV", "--history", "24h"),
    ("monitor", "--count", "1", "--interval", "0.1"),
    ("install", "--resume", "--dry-run", "--yes"),
    ("use",),
    ("verify", "--files"),
)


def make_pipe(path: Path, _foreign: Path) -> None:
    os.mkfifo(path)


def link_to_endless_device(path: Path, _foreign: Path) -> None:
    path.symlink_to("/dev/zero")


def make_giant(path: Path, _foreign: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def make_giant_json(path: Path, _foreign: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"schema": "' + b"x" * (1 << 20) + b'"}' + b" " * 10)
        file.seek(1 << 30)
        file.write(b" ")


def nest_arrays(path: Path, _foreign: Path) -> None:
    path.write_bytes(b"[" * 1_000_000)


def nest_objects(path: Path, _foreign: Path) -> None:
    path.write_bytes(b'{"schema":' * 200_000)


def write_no_number(path: Path, _foreign: Path) -> None:
    path.write_bytes(b'{"text_scale": NaN, "asked": NaN, "as_of": NaN, "schema": NaN, "started": 1e999}')


def write_huge_number(path: Path, _foreign: Path) -> None:
    digits = b"9" * 100_000
    path.write_bytes(b'{"speed_limit": ' + digits + b', "asked": ' + digits + b', "schema": ' + digits + b"}")


def repeat_keys(path: Path, _foreign: Path) -> None:
    path.write_bytes(b'{"theme": "dark", "theme": 7, "schema": "a", "schema": "b", "language": "en", "language": []}')


def make_folder(path: Path, _foreign: Path) -> None:
    path.mkdir()


def link_to_itself(path: Path, _foreign: Path) -> None:
    path.symlink_to(path.name)


def link_to_somebodys_file(path: Path, foreign: Path) -> None:
    path.symlink_to(foreign)


ATTACKS: tuple[Callable[[Path, Path], None], ...] = (
    *(make_pipe, link_to_endless_device, make_giant, make_giant_json, nest_arrays, nest_objects),
    *(write_no_number, write_huge_number, repeat_keys, make_folder, link_to_itself, link_to_somebodys_file),
)


def own_files(data: DataDir, environment: Path) -> tuple[Path, ...]:
    """All that the program reads by itself, by the names that it gives."""
    return (
        data.settings,
        *(data.state / name for name in ("updates.json", "install.pid", "bench.pid", "window", "last-import.json")),
        *(data.catalog / name for name in ("stamp", "pytorch.json", "cuda.json", "cudnn.json", "drivers.json")),
        data.journal / "20260101-000000.jsonl",
        data.size_cache / "sizes.json",
        data.benchmarks / "20260101-000000.json",
        *(data.history / name for name in ("cards.json", "1s-1700000000.history", "10s-170000000.history")),
        *(data.logs / name for name in ("gpu-assistant.log", "crash.txt", "running.txt")),
        *(environment / name for name in ("gpu-assistant.json", "gpu-assistant-files.txt", "pylock.toml")),
        environment / "gpu-assistant-unfinished.txt",
        *(each / ".gpu-assistant-folder.json" for each in (data.root, data.state, data.cache, environment)),
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_commands_end_whatever_lies_in_the_place_of_our_files(
    tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    data, foreign = DataDir(tmp_path / "data"), tmp_path / "thesis.txt"
    environment = data.environments / "pytorch"
    foreign.write_text("mine", encoding="utf-8")
    for path in own_files(data, environment):
        path.parent.mkdir(parents=True, exist_ok=True)
        attack(path, foreign)
    problems = []
    for command in COMMANDS:
        arguments = [str(tmp_path / "x.csv") if each == "CSV" else each for each in command]
        try:
            finished = run_program(
                [*arguments, "--json", "--data-dir", str(data.root)],
                {**os.environ, "LC_ALL": "C.UTF-8"},
                timeout=SECONDS,
                address_space=ADDRESS_SPACE_BYTES,
            )
        except subprocess.TimeoutExpired:
            problems.append(f"{command}: did not end")
            continue
        if (
            finished.returncode not in (0, 1, 2, 3, 4)
            or "Traceback" in finished.stderr
            or '"internal"' in finished.stdout
        ):
            problems.append(f"{command}: {finished.returncode} {finished.stdout[-300:]} {finished.stderr[-600:]}")
        elif finished.stdout:
            for line in finished.stdout.splitlines():
                json.loads(line)
    assert problems == []
    assert foreign.read_text(encoding="utf-8") == "mine"
