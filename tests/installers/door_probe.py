"""In the place of the program behind the door: `--administrator-door REPORT WORD` writes what it finds into REPORT.

    python tests/installers/door_probe.py PROGRAM OUT

makes the folder OUT, with the launchers and the Python of the built PROGRAM and this module in its place. The test is
tests/windows/test_door.py; `.ci/windows-setup` calls both.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

EXIT_CODE = 7
IS_PROBE = sys.argv[1:2] == ["--administrator-door"]

if not IS_PROBE:  # the shipped Python has no such modules
    import importlib.util
    import py_compile
    import shutil
    import tempfile
    from types import ModuleType

    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(ROOT / "installers"), str(ROOT / "installers/windows")]
    import door_files
    from stage import Python, Staged


def report(path: Path) -> None:
    """What a process with administrator rights got of its surroundings."""
    home = Path(sys.executable).parent
    found = {
        "environ": dict(os.environ),
        "cwd": str(Path.cwd()),
        "home": str(home),
        "isolated": sys.flags.isolated,
        "arguments": sys.argv[1:],
        "path": sys.path,
        "files": sorted(file.relative_to(home).as_posix() for file in home.rglob("*") if file.is_file()),
    }
    path.write_text(json.dumps(found), encoding="utf-8")


def build(program: Path, out: Path) -> None:
    """A program of the same Python whose door leads to this module."""
    shutil.copytree(program / "runtime", out / "runtime")
    stage_probe(out)
    with tempfile.TemporaryDirectory() as scratch:
        launchers(out, Path(scratch))


def stage_probe(folder: Path) -> None:
    """This module in the place of the program, and the names that the list of the launcher asks for."""
    app = folder / "app"
    for name in ("gpu_assistant", "gpu_assistant.install", "gpu_assistant.install.elevation", "platformdirs"):
        _module(app.joinpath(*name.split("."), "__init__.py"), "")
    for name in (door_files.HELPER, *door_files.CHOSEN_BY_NAME):
        _module(app.joinpath(*name.split(".")).with_suffix(".py"), "")
    py_compile.compile(__file__, str(app / door_files.ENTRY), doraise=True)
    _module(app / "gpu_assistant/planted.py", "raise SystemExit('what no list names was run')")


def _module(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def launchers(folder: Path, scratch: Path) -> None:
    """The launchers of a staged program, as the build makes them."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    compact = minor.replace(".", "")
    (folder / f"runtime/python{compact}._pth").write_text(f"python{compact}.zip\n.\n..\\app\n", encoding="ascii")
    python = Python("windows", minor, folder, folder, folder, None)
    windows_build = module_of("windows_build", ROOT / "installers/windows/build.py")
    tools = {
        name: windows_build.find_tool(name, names) for name, names in windows_build.TOOLS.items() if name != "makensis"
    }
    windows_build.build_launchers(tools, Staged(folder, python, (), ()), folder, scratch)


def module_of(name: str, file: Path) -> ModuleType:
    """A module under a name of its own: there are two called `build`."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    if IS_PROBE:
        report(Path(sys.argv[2]))
        sys.exit(EXIT_CODE)
    build(Path(sys.argv[1]), Path(sys.argv[2]))
