"""The list of the tests that Windows leaves out: every entry matches something."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PLUGIN = Path(__file__).parent.parent / ".ci" / "windows_deselect.py"


@pytest.fixture(scope="module")
def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("windows_deselect", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_entry_matches_a_test(plugin: ModuleType) -> None:
    entries = {
        "excluded": [*plugin.EXCLUDED, *plugin.ONE_CASE],
        "selected": plugin.SELECTED,
        "patterns": plugin.ALL_CASES,
    }
    assert plugin.unmatched_entries(**entries) == []


def test_stale_entries_are_reported(plugin: ModuleType) -> None:
    file = "tests/test_windows_deselect.py"
    wrong = plugin.unmatched_entries(
        excluded=["tests/gone", file, f"{file}::test_gone"],
        selected={file: ["test_gone", "test_every_entry_matches_a_test"], "tests/test_gone.py": ["test_gone"]},
        patterns=["tests/test_*", "tests/gone/*"],
    )
    assert wrong == [
        f"{file}::test_gone",
        "tests/test_gone.py::test_gone",
        "tests/gone",
        f"{file}::test_gone",
        "tests/gone/*",
    ]


def test_another_linux_runs_all_that_windows_selects(plugin: ModuleType) -> None:
    files, tests = [], []
    for argument in plugin.arguments_on_linux():
        option, _, name = argument.partition("=")
        {"--ignore": files, "--deselect": tests}[option].append(name)
    assert {plugin.EXCLUDED[file] for file in files} == {*plugin.ALSO_ON_LINUX}
    selected = [f"{file}::{test}" for file, names in plugin.SELECTED.items() for test in names]
    assert tests
    assert not [test for test in selected if test.startswith(tuple(tests))]
