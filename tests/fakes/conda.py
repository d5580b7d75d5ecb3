"""A conda of the tests: a program that behaves as the real one and makes true environments of this Python.

Its command line, its answers with --json, its exit codes and what it leaves on the disk are those of conda 26.7, run on
a channel in a folder. It takes the Python from the one that runs the tests instead of a channel.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from uv import find_uv_bin

from tests.install import tiny_wheels

PROGRAM = r'''
import argparse, json, os, shutil, sys, time
from pathlib import Path

ROOT = Path(sys.argv[0]).resolve().parent.parent
WINDOWS = sys.platform == "win32"
LEFT_OUT = ("site-packages", "dist-packages", "__pycache__", "test", "idlelib", "tkinter", "EXTERNALLY-MANAGED")
SERIES = "%d.%d" % sys.version_info[:2]
VERSION = "%d.%d.%d" % sys.version_info[:3]


def fail(name, message, **more):
    print(json.dumps({"exception_name": name, "exception_type": f"<class '{name}'>", "message": message, **more}))
    raise SystemExit(1)


def create(arguments):
    parser = argparse.ArgumentParser(prog="conda create")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--channel", action="append", default=[])
    for flag in ("override-channels", "yes", "json", "quiet", "no-default-packages", "no-pin"):
        parser.add_argument("--" + flag, action="store_true")
    parser.add_argument("packages", nargs="*")
    given = parser.parse_args(arguments)
    with (ROOT / "calls.jsonl").open("a", encoding="utf-8") as log:
        settings = {k: v for k, v in os.environ.items() if k.startswith(("CONDA_", "PYTHON"))}
        log.write(json.dumps({"arguments": sys.argv[1:], "settings": settings}) + "\n")
    prefix = Path(given.prefix)
    if not (given.yes and given.json):
        raise SystemExit("CondaSystemExit: Exiting.")
    if not (given.override_channels and given.channel == ["conda-forge"]):
        fail("CondaToSNonInteractiveError", "Terms of Service have not been accepted for the following channels.")
    mode = (ROOT / "mode").read_text() if (ROOT / "mode").is_file() else ""
    if mode == "offline":
        fail("CondaHTTPError", "HTTP 000 CONNECTION FAILED for url <https://conda.invalid/conda-forge>")
    if given.packages != ["python=" + SERIES]:
        fail("PackagesNotFoundInChannelsError", "\nThe following packages are not available from current channels:\n")
    if (prefix / "conda-meta").is_dir():
        shutil.rmtree(prefix)  # "Remove existing environment?", with --yes
    cache = Path(os.environ["CONDA_PKGS_DIRS"]) / ("python-" + VERSION + "-0_cpython")
    if not cache.is_dir():
        if mode == "once":
            (ROOT / "mode").write_text("offline")
        fill(cache)
    (prefix / "conda-meta").mkdir(parents=True)
    (prefix / "conda-meta" / "history").touch()
    known = Path.home() / ".conda" / "environments.txt"
    known.parent.mkdir(exist_ok=True)
    lines = known.read_text().splitlines() if known.is_file() else []
    if str(prefix) not in lines:
        with known.open("a", encoding="utf-8") as file:
            file.write(str(prefix) + "\n")
    files = [place.relative_to(cache) for place in cache.rglob("*") if place.is_symlink() or place.is_file()]
    for number, name in enumerate(sorted(files)):
        target = prefix / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (cache / name).is_symlink():
            target.symlink_to(os.readlink(cache / name))
        else:
            os.link(cache / name, target)
        if mode == "stuck" and number == len(files) // 2:
            with (ROOT / "half").open("w") as pipe:
                pipe.write("half")
            time.sleep(600)
    record = {"name": "python", "version": VERSION, "channel": "conda-forge", "files": [n.as_posix() for n in files]}
    (prefix / "conda-meta" / f"python-{VERSION}-0_cpython.json").write_text(json.dumps(record))
    (prefix / "conda-meta" / "history").write_text("# cmd: " + " ".join(sys.argv) + "\n")
    if mode == "managed":
        library = prefix / "Lib" if WINDOWS else prefix / "lib" / ("python" + SERIES)
        mark = library / "EXTERNALLY-MANAGED"
        mark.write_text("[externally-managed]\nError=conda's\n")
    print(json.dumps({"success": True, "prefix": str(prefix), "actions": {"PREFIX": str(prefix)}}, indent=2))


def fill(cache):
    """A package of this Python; what it is made of is linked where that works, to be quick."""
    if WINDOWS:
        base = Path(sys.base_prefix)
        cache.mkdir(parents=True)
        for place in (base / "python.exe", *base.glob("*.dll")):
            shutil.copy2(place, cache)
        shutil.copytree(base / "DLLs", cache / "DLLs")
        library = cache / "Lib"
        shutil.copytree(Path(os.__file__).parent, library, ignore=shutil.ignore_patterns(*LEFT_OUT))
    else:
        library = cache / "lib" / ("python" + SERIES)
        library.mkdir(parents=True)
        (cache / "bin").mkdir()
        shutil.copy2(Path(sys._base_executable).resolve(), cache / "bin" / ("python" + SERIES))
        (cache / "bin" / "python").symlink_to("python" + SERIES)
        for place in Path(os.__file__).parent.iterdir():
            if place.name not in LEFT_OUT:
                (library / place.name).symlink_to(place)
        undo_debian(library)
    (library / "site-packages").mkdir()
    (library / "site-packages" / "README.txt").write_text("packages")


def undo_debian(library):
    """Outside of a venv Debian's Python puts packages into dist-packages, programs into local/bin; conda's does not."""
    import sysconfig

    source = Path(sysconfig.__file__)
    text = source.read_text(encoding="utf-8")
    in_venv = 'hasattr(sys, "real_prefix")'
    if in_venv not in text:
        return
    target = library / source.relative_to(Path(os.__file__).parent)
    if target.parent != library:
        target.parent.unlink()  # a package: its folder was linked as a whole
        shutil.copytree(source.parent, target.parent, ignore=shutil.ignore_patterns("__pycache__"))
    target.unlink()
    target.write_text(text.replace(in_venv, "True"), encoding="utf-8")
    # `site` is frozen into the program.
    custom = library / "sitecustomize.py"
    custom.unlink(missing_ok=True)
    custom.write_text("import os, site\nsite.addsitedir(os.path.join(os.path.dirname(__file__), 'site-packages'))\n")


def main():
    if sys.argv[1:] == ["--version"]:
        print("conda 26.7.0")
    elif sys.argv[1:2] == ["create"]:
        create(sys.argv[2:])
    else:
        raise SystemExit(2)
'''
# conda's own, cut to what matters: it takes an environment's folder and puts its programs first on PATH.
ACTIVATE = """
export CONDA_PREFIX="$1"
export PATH="$1/bin:$PATH"
"""
ACTIVATE_BAT = '@set "CONDA_PREFIX=%~1"\r\n@set "PATH=%~1;%~1\\Scripts;%PATH%"\r\n'
WINDOWS = sys.platform == "win32"


class FakeConda:
    """conda's own folder at `root`, with the program in it; `mode` is how the next call goes:

    "offline", "once" (offline once it has fetched), "stuck" in the middle of an environment, "managed".
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        programs = root / ("Scripts" if WINDOWS else "bin")
        self.program = programs / ("conda.exe" if WINDOWS else "conda")
        programs.mkdir(parents=True)
        (root / "conda-meta").mkdir()
        (root / "conda-meta" / "conda-26.7.0-py311h06a4308_0.json").touch()
        if WINDOWS:
            (programs / "activate.bat").write_text(ACTIVATE_BAT, encoding="utf-8", newline="")
            self._make_exe()
        else:
            (programs / "activate").write_text(ACTIVATE, encoding="utf-8")
            self.program.write_text(f"#!{sys.executable} -I\n{PROGRAM}\nmain()\n", encoding="utf-8")
            self.program.chmod(0o755)

    def _make_exe(self) -> None:
        """As uv makes any program of a wheel, in an environment of its own."""
        conda = tiny_wheels.wheel("conda", "26.7.0", source=PROGRAM, script="main")
        wheel = self.root / conda.name
        wheel.write_bytes(conda.data)
        made = self.root / "own"
        for command in (["venv", "--python", sys.executable, made], ["pip", "install", "--python", made, wheel]):
            subprocess.run([find_uv_bin(), *command, "--offline", "--no-config", "--quiet"], check=True)
        shutil.copy2(made / "Scripts" / "conda.exe", self.program)

    def mode(self, mode: str) -> None:
        (self.root / "mode").write_text(mode, encoding="utf-8")

    @property
    def calls(self) -> list[dict[str, object]]:
        log = self.root / "calls.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []

    def files(self) -> dict[str, bytes | None]:
        """What base holds, to see that nobody touches it."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.root.rglob("*"))
            # What conda's own Python compiles is no touch of ours.
            if path.name not in ("calls.jsonl", "mode", "half") and "__pycache__" not in path.parts
        }


SERIES = ".".join(platform.python_version_tuple()[:2])
LISTED = Path(".conda") / "environments.txt"


def listed(home: Path) -> list[str]:
    """conda's list of a user's environments."""
    path = home / LISTED
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def whole(environment: Path) -> bool:
    """Whether conda would take the folder for an environment of its own."""
    return os.path.lexists(environment / "conda-meta" / "history")
