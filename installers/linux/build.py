"""Makes gpu-assistant_<version>_amd64.deb: the program with a Python of its own, for Debian 12, Ubuntu 22.04 and newer.

    python installers/linux/build.py [--python PREFIX] [--lock FILE]... [--out DIR]

Needs dpkg-deb and gcc. Two builds give the same bytes for the same SOURCE_DATE_EPOCH (the last commit's time where it
is not set).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE.parent), str(HERE)]

from release_extra import require_release_extra

require_release_extra("installers/linux/build.py")

import needs
import shipped_python
from checksums import write_sums
from icon import HICOLOR_SIZES, hicolor
from sbom import write_sbom
from stage import BuildError, Staged, digest, stage, stamp

from gpu_assistant import __version__

HOME = "usr/lib/gpu-assistant"
NAME = "gpu-assistant"


def main(words: Sequence[str]) -> int:
    """Build; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="prefix of the CPython to ship (default: the pinned one)")
    parser.add_argument("--lock", type=Path, action="append", default=[], help="hashed requirements that go first")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--quick", action="store_true", help="pack with zstd: in a third of the time, a quarter larger")
    given = parser.parse_args(words)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            build(given.python, given.lock, given.out.resolve(), Path(scratch), quick=given.quick)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build(prefix: Path | None, locks: Sequence[Path], out: Path, scratch: Path, *, quick: bool = False) -> Path:
    """Everything, into the folder `out`; returns the package. Raises BuildError."""
    for tool in ("dpkg-deb", "gcc"):
        _tool(tool)  # said now, not after minutes of work
    when = stamp()
    found = shipped_python.find(prefix or shipped_python.pinned(scratch))
    tree = scratch / "tree"
    home = tree / HOME
    staged = stage(found.python, home, locks=locks)
    build_launcher(found, home)
    note = json.dumps({"kind": "deb", "version": __version__}) + "\n"
    (home / "installed.json").write_text(note, encoding="utf-8", newline="\n")
    _desktop(tree)
    _copyright(staged, tree)
    _control(tree)
    _modes(tree)
    when.set(tree)
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"{NAME}_{__version__}_amd64.deb"
    # The packer is named: distributions choose differently.
    packer = ("-Zzstd", "-z9") if quick else ("-Zxz",)
    _run(_tool("dpkg-deb"), *packer, "--root-owner-group", "--build", tree, made)
    write_sbom([astuple(part) for part in staged.parts], out / f"GPU-Assistant-{__version__}-linux.cdx.json")
    write_sums(out)
    installed = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())
    print(f"{made.name}  {made.stat().st_size / 1e6:.1f} MB  sha256 {digest(made)}")
    print(f"installed  {installed / 1e6:.1f} MB")
    return made


def build_launcher(found: shipped_python.Prefix, home: Path) -> None:
    """The program's own door, and the same on PATH."""
    minor = found.python.minor
    _run(
        _tool("gcc"),
        *("-O2", "-Wall", "-Wextra", "-Werror", "-s", "-Wl,--build-id=none", "-Wl,-rpath,$ORIGIN/runtime"),
        "-Wl,--disable-new-dtags",  # RPATH: a RUNPATH would let LD_LIBRARY_PATH bring another Python
        f'-DSTANDARD_LIBRARY="python{minor.replace(".", "")}.zip"',
        *("-I", found.headers, HERE / "launcher.c", "-L", found.libraries, f"-lpython{minor}"),
        *("-o", home / NAME),
    )
    programs = home.parents[1] / "bin"
    programs.mkdir()
    (programs / NAME).symlink_to(f"../lib/{NAME}/{NAME}")


def _desktop(tree: Path) -> None:
    """Menu entry, description for software centres, the question for administrator rights, pictures."""
    share = tree / "usr/share"
    _copy(HERE / f"{NAME}.desktop", share / "applications" / f"{NAME}.desktop")
    _copy(HERE / f"{NAME}.metainfo.xml", share / "metainfo" / f"{NAME}.metainfo.xml")
    _copy(HERE / f"{NAME}.policy", share / "polkit-1/actions" / f"{NAME}.policy")
    icons = share / "icons/hicolor"
    for side in HICOLOR_SIZES:
        _copy(hicolor(side), icons / f"{side}x{side}/apps/{NAME}.png")
    _copy(ROOT / f"resources/icons/{NAME}.svg", icons / f"scalable/apps/{NAME}.svg")


def _copyright(staged: Staged, tree: Path) -> None:
    """Debian's copyright file: who owns what, and where each text lies."""
    lines = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
        "Upstream-Name: GPU Assistant",
        f"Comment: the full texts of all parts lie in /{HOME}/licenses.",
        "",
        "Files: *",
        "Copyright: The GPU Assistant authors",
        "License: Apache-2.0",
        " On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.",
        "",
        "Comment: made with these parts of others:",
        *(f" {part.name} {part.version}: {' '.join(part.licence.split())[:200]}" for part in staged.parts),
    ]
    target = tree / "usr/share/doc" / NAME / "copyright"
    target.parent.mkdir(parents=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _control(tree: Path) -> None:
    size = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())
    values = {
        "VERSION": __version__,
        "KILOBYTES": str(size // 1024),
        "DEPENDS": ", ".join(needs.packages(tree / HOME)),
    }
    text = (HERE / "control").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(text, encoding="utf-8", newline="\n")


def _modes(tree: Path) -> None:
    """The same rights whatever the builder's umask."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or _started(path) else 0o644)


def _started(path: Path) -> bool:
    """Programs, not libraries: uv and our launcher."""
    return path.is_file() and (path.parent.name == "bin" or path.as_posix().endswith(f"{HOME}/{NAME}"))


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _tool(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is missing: install dpkg and gcc.")
    return Path(found)


def _run(*words: str | Path) -> None:
    environ = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(list(map(str, words)), env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{Path(words[0]).name} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
