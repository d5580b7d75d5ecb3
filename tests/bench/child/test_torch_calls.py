"""Calls of PyTorch that need a card or several processes, against the parameters that releases really have."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ...fakes import torch_with_card
from .test_decoding import CUDA
from .torch_signatures import FIXTURE, KINDS, MODULES, declared, signature

ROOT = Path(__file__).parents[3]
RELEASES: dict[str, dict[str, Any]] = json.loads(FIXTURE.read_text("utf-8")) if FIXTURE.exists() else {}
SOURCES = [*sorted((ROOT / "gpu_assistant" / "bench" / "child").glob("*.py")), ROOT / "benchmarks" / "card_probes.py"]
# What the code asks for by `hasattr` first, and releases before 2.3 have not.
OPTIONAL = {"amp.GradScaler"}
# Of other objects: events, streams, and our own.
OTHERS = {"cuda.amp"}


def called() -> Iterator[tuple[str, ast.Call]]:
    """The calls of `MODULES` in the programs that run in an environment, by their name there."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            parts = ast.unparse(node.func).split(".")
            for name in (".".join(parts[-3:]), ".".join(parts[-2:]), parts[-1]):
                prefix = name.rpartition(".")[0] or name
                if prefix in MODULES and name not in OTHERS:
                    yield name, node
                    break


def test_the_record_has_the_oldest_release_and_a_new_one_and_all_that_is_called() -> None:
    assert list(RELEASES) == ["2.0.0", "2.15.0"]
    names = {name for name, _ in called()}
    assert len(names) > 30
    for release in RELEASES.values():
        assert names - set(release) <= OPTIONAL


@pytest.mark.parametrize("release", RELEASES)
def test_every_call_fits_the_release(release: str) -> None:
    for name, call in called():
        if name in RELEASES[release] and not any(isinstance(each, ast.Starred) for each in call.args):
            named = {keyword.arg: None for keyword in call.keywords if keyword.arg is not None}
            signature(RELEASES[release][name]).bind(*call.args, **named)


def stand_ins() -> Iterator[tuple[str, inspect.Signature]]:
    """What stands in for `torch.cuda` in tests."""
    for name, value in vars(torch_with_card.cuda).items():
        yield f"cuda.{name}", inspect.signature(value)
    for name, given in declared(ast.parse(CUDA)).items():
        if f"cuda.{name}" in RELEASES["2.15.0"]:
            yield f"cuda.{name}", signature(given)


@pytest.mark.parametrize("release", RELEASES)
def test_stand_ins_take_what_the_release_takes(release: str) -> None:
    seen = set()
    for name, own in stand_ins():
        real = signature(RELEASES[release][name]).parameters
        names = [each for each, parameter in own.parameters.items() if parameter.kind in KINDS.values()]
        assert names == list(real)[: len(names)], name
        seen.add(name)
    assert {"cuda.mem_get_info", "cuda.set_per_process_memory_fraction", "cuda.graph", "cuda.Stream"} <= seen
