"""The scripts of benchmarks/ start, and the programs that they hold as text name what exists; mypy reads the rest."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
# Each one's --help in one process: a start for each would take ten seconds. One without options is only loaded.
ASK_FOR_HELP = """
import contextlib, io, runpy, sys
from pathlib import Path
faults = []
for name in sys.argv[1:]:
    options = "argparse" in Path(name).read_text(encoding="utf-8")
    sys.argv, sys.path[0], printed = [name, "--help"], str(Path(name).parent), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(name, run_name="__main__" if options else "benchmark")
        code = None
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        code = repr(error)
    if code != (0 if options else None) or options and "usage: " not in printed.getvalue():
        faults.append(f"{name}: {code}")
print("\\n".join(faults))
"""


def test_every_script_says_what_it_takes() -> None:
    assert len(SCRIPTS) > 20
    done = subprocess.run(
        [sys.executable, "-c", ASK_FOR_HELP, *map(str, SCRIPTS)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def programs(source: str) -> Iterator[ast.Module]:
    """The texts of a script that are programs with imports of ours."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "gpu_assistant" in node.value:
            try:
                tree = ast.parse(node.value)
            except SyntaxError:
                continue
            if any(isinstance(each, ast.Import | ast.ImportFrom) for each in ast.walk(tree)):
                yield tree


def missing_names(tree: ast.Module) -> list[str]:
    """What a program imports from our modules, or asks one of them for, that is not there."""
    modules: dict[str, ModuleType] = {}
    missing = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(("gpu_assistant", "tests")):
            continue
        for alias in node.names:
            found = named(node.module or "", alias.name)
            if found is None:
                missing.append(f"{node.module}.{alias.name}")
            elif isinstance(found, ModuleType):
                modules[alias.asname or alias.name] = found
    missing += [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and not hasattr(modules[node.value.id], node.attr)
    ]
    return missing


def named(module: str, name: str) -> object:
    """What `from module import name` gives, or None."""
    try:
        holder = importlib.import_module(module)
        return getattr(holder, name) if hasattr(holder, name) else importlib.import_module(f"{module}.{name}")
    except ImportError:
        return None


@pytest.mark.gui
def test_programs_in_scripts_name_what_exists() -> None:
    found = {path.name: list(programs(path.read_text(encoding="utf-8"))) for path in SCRIPTS}
    assert "cold_start.py" in {name for name, trees in found.items() if trees}
    wrong = {name: [fault for tree in trees for fault in missing_names(tree)] for name, trees in found.items()}
    assert {name: faults for name, faults in wrong.items() if faults} == {}


@pytest.mark.parametrize(
    ("program", "missing"),
    [
        ("from gpu_assistant.core import log\nlog.start(1)", ["log.start"]),
        ("from gpu_assistant.core import log\nlog.start_logging(1)", []),
        ("from gpu_assistant.core.log import begin", ["gpu_assistant.core.log.begin"]),
        ("from gpu_assistant.core.nowhere import x", ["gpu_assistant.core.nowhere.x"]),
    ],
)
def test_a_name_that_is_gone_is_found(program: str, missing: list[str]) -> None:
    assert missing_names(ast.parse(program)) == missing
