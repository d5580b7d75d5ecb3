"""Damaged machine and catalog files: exit 0, 1 or 2, one sentence, no traceback, nothing made up."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.json import decode
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.localized import Texts

ROOT = Path(__file__).resolve().parents[2]
MACHINES = sorted((ROOT / "tests" / "machines").glob("*.json"))
CATALOG = resources_dir() / "catalog"
# What decides about a recommendation; the cards' table is big and the same rules hold for it.
SUBJECTS = (
    "pytorch.json",
    "drivers.json",
    "cuda.json",
    "pythons.json",
    "tensorflow.json",
    "cudnn.json",
    "accelerators.json",
)
GOALS = ("pytorch", "tensorflow", "cuda-dev", "all")
SECONDS = 10.0  # far above what any call needs; only one that hangs reaches it

odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["", "@x", "{y}", "8.9", "999.9", "cu", "cu1", "cu99999", "1.", "..", "3.14", "٣.٤", "9" * 40]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(0, 9), max_size=3),
)
places = st.lists(st.integers(0, 2**16), min_size=1, max_size=8)


def damage(value: Any, place: list[int], new: Any, how: str) -> Any:
    """The value with one thing in it replaced, taken away or doubled; `place` picks the way down."""
    value = copy.deepcopy(value)
    node, steps = value, list(place)
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return value
        key = keys[steps.pop(0) % len(keys)]
        if steps and isinstance(node[key], (dict, list)) and node[key]:
            node = node[key]
            continue
        if how == "drop":
            del node[key]
        elif how == "double" and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        else:
            node[key] = new
        return value


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def run_cli(*arguments: str) -> tuple[int, str, str]:
    """One call in this process: exit code, stdout and stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    started = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
    assert time.monotonic() - started < SECONDS
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
    return code, out.read(), err.read()


def sound(code: int, out: str, err: str) -> None:
    """An answer, or one sentence; never an accident."""
    assert code in (0, 1, 2), (code, err)
    assert "Traceback" not in out + err
    assert "Something went wrong inside" not in err, err
    answer = json.loads(out)
    assert answer
    if code != 0:
        assert answer["schema"] == "gpu-assistant/error/1"
        assert err.strip()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(MACHINES),
    hits=st.lists(st.tuples(places, odd, st.sampled_from(["set", "drop", "double"])), min_size=1, max_size=4),
    command=st.sampled_from(["recommend", "plan"]),
    goal=st.sampled_from(GOALS),
)
def test_damaged_machine_files(folder: Path, path: Path, hits: list[Any], command: str, goal: str) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    for place, new, how in hits:
        value = damage(value, place, new, how)
    target = folder / "machine.json"
    target.write_text(json.dumps(value), encoding="utf-8")
    sound(
        *run_cli(command, "--machine", str(target), "--goal", goal, "--json", "--lang", "en", "--data-dir", str(folder))
    )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(MACHINES), cut=st.integers(0, 4000), more=st.binary(max_size=40))
def test_torn_machine_files(folder: Path, path: Path, cut: int, more: bytes) -> None:
    target = folder / "machine.json"
    target.write_bytes(path.read_bytes()[:cut] + more)
    sound(*run_cli("recommend", "--machine", str(target), "--json", "--lang", "en", "--data-dir", str(folder)))


@cache
def facts(name: str) -> Any:
    return json.loads((CATALOG / name).read_text(encoding="utf-8"))


@cache
def boxes() -> tuple[Machine, ...]:
    return tuple(decode(path.read_bytes(), Machine) for path in MACHINES)


def subjects() -> list[str]:
    return [name for name in SUBJECTS if (CATALOG / name).exists()]


damages = st.lists(st.tuples(places, odd, st.sampled_from(["set", "drop", "double"])), min_size=1, max_size=3)


def damaged_catalog(folder: Path, name: str, hits: list[Any]) -> Path:
    """A whole catalog with one damaged file."""
    target = folder / "catalog"
    if not target.exists():
        shutil.copytree(CATALOG, target)
    for known in subjects():
        if (target / known).read_bytes() != (CATALOG / known).read_bytes():
            shutil.copyfile(CATALOG / known, target / known)
    value = facts(name)
    for place, new, how in hits:
        value = damage(value, place, new, how)
    (target / name).write_text(json.dumps(value), encoding="utf-8")
    return target


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(subjects()), hits=damages, goal=st.sampled_from(GOALS))
def test_damaged_catalogs(folder: Path, name: str, hits: list[Any], goal: Any) -> None:
    catalog = load_catalog(damaged_catalog(folder, name, hits))
    for box in boxes():
        try:
            advice: Any = recommend(box, catalog, goal=goal)
        except AppError as error:
            advice = error
        for language in ("en", "zh_CN"):
            texts = Texts(language)  # type: ignore[arg-type]
            assert texts.error_text(advice) if isinstance(advice, AppError) else texts.localize_recommendation(advice)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(subjects()), hits=damages, path=st.sampled_from(MACHINES), torn=st.booleans())
def test_a_damaged_refreshed_catalog(folder: Path, name: str, hits: list[Any], path: Path, torn: bool) -> None:
    target = damaged_catalog(folder, name, hits)
    if torn:
        data = (target / name).read_bytes()
        (target / name).write_bytes(data[: len(data) // 2])
    sound(*run_cli("recommend", "--machine", str(path), "--json", "--lang", "en", "--data-dir", str(folder)))


@pytest.mark.parametrize(
    ("content", "exit_code"),
    [
        (b"", 2),
        (b"\xff\xfe\x00", 2),
        (b"[" * 100_000, 2),
        (b'{"schema": "gpu-assistant/machine/1", "os": {"system": "linux"}, "gpus": []}', 0),
    ],
    ids=["empty", "bytes", "deep", "least"],
)
def test_real_processes(tmp_path: Path, content: bytes, exit_code: int) -> None:
    target = tmp_path / "machine.json"
    target.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "gpu_assistant", "recommend", "--machine", target, "--json", "--data-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        # Windows' pipes speak the code page else.
        env={**os.environ, "PYTHONUTF8": "1"},
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == exit_code, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
