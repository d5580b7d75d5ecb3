"""What .ci/run says at its end of what failed, read out of pytest's output."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "failures.py"
TESTS = """
import pytest

def test_passes():
    pass

@pytest.mark.parametrize("page", [3, 4])
def test_tab_reaches_every_named_control_of_a_page_whose_name_is_long(page):
    try:
        raise KeyError("first")
    except KeyError:
        raise OSError("[WinError 1359] Internal error") from None if page == 3 else OSError("Internal error")

def test_prints_what_looks_like_an_error():
    print("E   not this one")
    assert 1 == 2

@pytest.fixture
def broken():
    raise RuntimeError("no sandbox")

def test_setup(broken):
    pass

class TestClass:
    def test_method(self):
        assert "abc" == "abd"
"""
FILE = "test_them.py"
LONG = f"{FILE}::test_tab_reaches_every_named_control_of_a_page_whose_name_is_long"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("failures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_pytest(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, FILE]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False).stdout


@pytest.mark.parametrize("traceback", ["auto", "short"])
def test_each_failed_test_has_the_line_of_its_error(script: ModuleType, tmp_path: Path, traceback: str) -> None:
    (tmp_path / FILE).write_text(TESTS, encoding="utf-8")
    said = "== the stage before\nFAILED other.py::test_other - long ago\n== this stage\n"
    said += run_pytest(tmp_path, f"--tb={traceback}", "-rfE")
    assert sorted(script.describe(said)) == [
        f"FAILED {FILE}::TestClass::test_method: AssertionError: assert 'abc' == 'abd'",
        f"FAILED {FILE}::test_prints_what_looks_like_an_error: assert 1 == 2",
        f"FAILED {FILE}::test_setup: RuntimeError: no sandbox",
        f"FAILED {LONG}[3]: OSError: [WinError 1359] Internal error",
        f"FAILED {LONG}[4]: OSError: [WinError 1359] Internal error",
    ]


def test_what_is_no_failed_test_is_said_by_the_last_lines(script: ModuleType) -> None:
    lines = [f"line {number}" for number in range(100)]
    assert script.describe("\n".join(["== types", *lines, "error: Name is not defined"])) == [
        *lines[-11:],
        "error: Name is not defined",
    ]


def test_failures_of_a_first_try_do_not_count_when_the_second_is_well(script: ModuleType) -> None:
    said = "== door\nFAILED a.py::test_a - OSError\n1 failed in 3.1s\ndoor: the failed ones once more\n1 passed in 1.0s"
    assert script.describe(f"{said}\nAssertionError: the window did not open")[-1] == (
        "AssertionError: the window did not open"
    )


FIRST = "FAILED a.py::test_a - OSError: 1359\nFAILED a.py::test_b - assert 0\n2 failed, 3 passed in 9.10s"


@pytest.mark.parametrize(
    ("code", "tries", "said"),
    [
        (
            0,
            ["840 passed, 97 skipped in 225.26s (0:03:45)"],
            ["rest: passed (840 passed, 97 skipped in 225.26s (0:03:45))"],
        ),
        (
            0,
            [FIRST, "2 passed in 1.00s"],
            [
                "rest: passed, but for what failed at first and passed alone:",
                "    passed alone: a.py::test_a: OSError: 1359",
                "    passed alone: a.py::test_b: assert 0",
            ],
        ),
        (
            1,
            [FIRST, "FAILED a.py::test_b - assert 0\n1 failed, 1 passed in 1.00s"],
            ["FAILED rest", "FAILED a.py::test_b: assert 0", "    passed alone: a.py::test_a: OSError: 1359"],
        ),
        (
            124,
            ["....\nwindows-rig: time limit of 2400 s reached"],
            [
                "FAILED rest (ended with exit code 124 in its midst)",
                "    ....",
                "    windows-rig: time limit of 2400 s reached",
            ],
        ),
        (
            5,
            [FIRST, "no tests ran in 0.10s"],
            [
                "FAILED rest (ended with exit code 5 in its midst)",
                "    no tests ran in 0.10s",
                "FAILED a.py::test_a: OSError: 1359",
                "FAILED a.py::test_b: assert 0",
            ],
        ),
    ],
    ids=["passed", "passed alone", "failed", "too long", "nothing to run once more"],
)
def test_tries_are_told_in_few_lines(script: ModuleType, code: int, tries: list[str], said: list[str]) -> None:
    assert script.outcome("rest", code, tries) == said
    if code:  # the last lines of .ci/run keep what names a failed test
        failed = [line for line in said if line.startswith("FAILED")]
        assert script.describe("== Windows, portion by portion\n" + "\n".join(said)) == failed
