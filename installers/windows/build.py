"""Makes GPU-Assistant-Setup-<version>.exe and a portable zip of the same folder; runs on Linux and on Windows.

    python installers/windows/build.py [--python DIR|ZIP] [--lock FILE]... [--out DIR]
                                       [--unsigned-plugins DIR | --unsigned DIR | --signed DIR] [--plugins DIR]

Needs makensis, and gcc and windres of MinGW-w64 for x86-64. Two builds give the same bytes for the same
SOURCE_DATE_EPOCH (the last commit's time where it is not set). `signing.py` says what the last four are for.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path, PureWindowsPath

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE.parent)]

from release_extra import require_release_extra

require_release_extra("installers/windows/build.py")

import cpython
import dlls
import door_files
import plugins
import signing
from checksums import write_sums
from packaging.version import Version
from sbom import write_sbom
from stage import BuildError, Staged, Stamp, digest, stage, stamp

from gpu_assistant import __version__

WINDOW, TERMINAL = "GPU Assistant.exe", "gpu-assistant.exe"
TOOLS = {
    "makensis": ("makensis",),
    "gcc": ("x86_64-w64-mingw32-gcc", "gcc"),
    "windres": ("x86_64-w64-mingw32-windres", "windres"),
}
# Windows' own languages: https://nsis.sourceforge.io lists them under these names.
LANGUAGES = {"en": "LANG_ENGLISH", "zh_CN": "LANG_SIMPCHINESE"}


def main(words: Sequence[str]) -> int:
    """Build; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="the CPython to ship (default: the pinned official one)")
    parser.add_argument("--lock", type=Path, action="append", default=[], help="hashed requirements that go first")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--quick", action="store_true", help="pack loosely, in a quarter of the time: for trying")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="also leave the program's folder there")
    signs = parser.add_mutually_exclusive_group()
    signs.add_argument("--unsigned-plugins", type=Path, metavar="DIR", help="write NSIS's plug-ins there, and no more")
    signs.add_argument("--unsigned", type=Path, metavar="DIR", help="write what is to be signed there, and no more")
    signs.add_argument("--signed", type=Path, metavar="DIR", help="pack these files, which came back signed")
    parser.add_argument("--plugins", type=Path, metavar="DIR", help="pack these plug-ins, which came back signed")
    given = parser.parse_args(words)
    if given.signed is not None and given.plugins is None:
        parser.error("--signed needs --plugins: a file inside would bear no signature")
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-assistant-build-") as scratch:
            if given.unsigned_plugins is not None:
                nsis = Path(scratch, "nsis")
                plugins.copy_nsis(find_tool("makensis", TOOLS["makensis"]), nsis)
                signing.take_out(plugins.plugins_folder(nsis), given.unsigned_plugins.resolve())
                return 0
            program = put_together(given.python, given.lock, Path(scratch))
            signed_plugins, signed = (each and each.resolve() for each in (given.plugins, given.signed))
            if given.unsigned is not None:
                write_unsigned(program, given.unsigned.resolve(), signed_plugins=signed_plugins, quick=given.quick)
                return 0
            out = given.out.resolve()
            pack(program, out, signed=signed, signed_plugins=signed_plugins, keep=given.keep, quick=given.quick)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@dataclass(frozen=True)
class Program:
    """The program's folder, and what its packages are made with."""

    tools: dict[str, Path]
    staged: Staged
    folder: Path
    scratch: Path
    when: Stamp


def put_together(python: Path | None, locks: Sequence[Path], scratch: Path) -> Program:
    """The program's folder, below `scratch`; everything that its binaries ask for is there. Raises BuildError."""
    tools = {name: find_tool(name, names) for name, names in TOOLS.items()}
    when = stamp()
    folder = scratch / "program"
    staged = stage(cpython.find(python or _official(scratch), scratch), folder, locks=locks)
    (folder / "runtime" / f"{_library(staged)}._pth").write_text(
        f"{_library(staged)}.zip\n.\n..\\app\n", encoding="ascii", newline="\n"
    )
    build_launchers(tools, staged, folder, scratch)
    dlls.check(folder)
    return Program(tools, staged, folder, scratch, when)


def write_unsigned(program: Program, out: Path, *, signed_plugins: Path | None, quick: bool) -> None:
    """Every binary that nobody has signed yet, the uninstaller among them, into the folder `out`. Raises BuildError.

    The uninstaller holds plug-ins and depends on how the setup program is packed: both as for `pack`.
    """
    files = signing.take_out(program.folder, out)
    _installed(program.folder, "windows-installer")
    program.when.set(program.folder)
    uninstaller = out / signing.UNINSTALLER
    finalize = [_command("--take-out", uninstaller)]
    _setup(program, program.scratch / "unsigned.exe", finalize, signed_plugins=signed_plugins, quick=quick)
    print(f"to be signed: {len(files) + 1} files in {out}")


def pack(
    program: Program, out: Path, *, signed: Path | None, signed_plugins: Path | None, keep: Path | None, quick: bool
) -> None:
    """Setup program and portable zip, into the folder `out`. Raises BuildError."""
    folder, staged, when = program.folder, program.staged, program.when
    finalize = []
    if signed is not None:
        signing.put_back(signed, folder)
        finalize = [_command("--put-back", signed / signing.UNINSTALLER)]
    out.mkdir(parents=True, exist_ok=True)
    shipped = json.dumps([vars(each) for each in staged.shipped], indent=1) + "\n"
    (out / f"GPU-Assistant-{__version__}-windows-files.json").write_text(shipped, encoding="utf-8", newline="\n")
    portable = out / f"GPU-Assistant-Portable-{__version__}.zip"
    _installed(folder, "windows-portable")
    when.set(folder)
    _zip(folder, portable, when, level=1 if quick else 9)
    _installed(folder, "windows-installer")
    when.set(folder)
    setup = out / f"GPU-Assistant-Setup-{__version__}.exe"
    _setup(program, setup, finalize, signed_plugins=signed_plugins, quick=quick)
    write_sbom([astuple(part) for part in staged.parts], out / f"GPU-Assistant-{__version__}-windows.cdx.json")
    write_sums(out)
    if keep is not None:
        shutil.copytree(folder, keep)
    installed = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    for name, size in ((setup.name, setup.stat().st_size), (portable.name, portable.stat().st_size)):
        print(f"{name}  {size / 1e6:.1f} MB  sha256 {digest(out / name)}")
    print(f"installed  {installed / 1e6:.1f} MB in {sum(1 for file in folder.rglob('*') if file.is_file())} files")


def _official(scratch: Path) -> Path:
    """The pinned embeddable package of python.org, fetched and checked."""
    from gpu_assistant.core.errors import AppError
    from gpu_assistant.core.files import RemoteFile
    from gpu_assistant.fetch.downloader import Downloader
    from gpu_assistant.fetch.request import DownloadRequest

    pinned = json.loads((HERE / "python.json").read_text(encoding="utf-8"))
    path = scratch / str(pinned["url"]).rsplit("/", 1)[1]
    file = RemoteFile(urls=(pinned["url"],), name=path.name, sha256=pinned["sha256"])
    try:
        Downloader([DownloadRequest(file=file, path=path)], cancel=threading.Event()).run()
    except AppError as error:
        raise BuildError(f"{pinned['url']} cannot be fetched ({error}); name another CPython with --python.") from error
    return path


def find_tool(name: str, names: Iterable[str]) -> Path:
    """The first of `names` that is on PATH; raises BuildError."""
    for each in names:
        if found := shutil.which(each):
            return Path(found).resolve() if os.name == "nt" else Path(found)
    raise BuildError(f"{name} is missing: install NSIS and MinGW-w64 (Debian: nsis, gcc-mingw-w64-x86-64).")


def _run(*words: str | Path, cwd: Path | None = None, environ: Mapping[str, str] = os.environ) -> None:
    environ = {**environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{Path(words[0]).name} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _library(staged: Staged) -> str:
    return f"python{staged.python.minor.replace('.', '')}"


def commas(version: str = __version__) -> str:
    """A version as Windows has it, four numbers: 1,2,0,0 of 1.2.0rc1."""
    major, minor, micro, *_ = (*Version(version).release, 0, 0)
    return f"{major},{minor},{micro},0"


def _fill(template: str, target: Path, **values: str) -> Path:
    text = (HERE / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    target.write_text(text, encoding="utf-8", newline="\n")
    return target


def build_launchers(tools: dict[str, Path], staged: Staged, folder: Path, scratch: Path) -> None:
    """The terminal's program, and the window's with the list of what it starts with administrator rights."""
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-municode", "-s", "-static-libgcc", "-Wl,--no-insert-timestamp"]
    manifest = _fill("launcher.manifest", scratch / "launcher.manifest", VERSION=commas().replace(",", "."))
    door = scratch / "door.txt"
    for name, more in ((TERMINAL, ["-DCONSOLE"]), (WINDOW, ["-mwindows", HERE / "close.c", HERE / "door.c"])):
        if name == WINDOW:
            door.write_text(door_files.listing(folder, staged.python.suffixes), encoding="utf-8", newline="\n")
        described = _fill(
            "launcher.rc",
            scratch / "launcher.rc",
            ICON=(ROOT / "resources" / "icons" / "gpu-assistant.ico").as_posix(),
            MANIFEST=manifest.as_posix(),
            COMMAS=commas(),
            VERSION=__version__,
            NAME=name,
            MORE=f'DOOR RCDATA "{door.as_posix()}"' if name == WINDOW else "",
        )
        _run(tools["windres"], "--codepage=65001", described, "-O", "coff", "-o", scratch / "launcher.o")
        python = _library(staged)
        names = [
            f'-DPYTHON_{name}="{python}{end}"' for name, end in (("DLL", ".dll"), ("ZIP", ".zip"), ("PATH", "._pth"))
        ]
        sources = [HERE / "launcher.c", HERE / "report.c", scratch / "launcher.o"]
        _run(tools["gcc"], *flags, *names, *more, *sources, "-o", folder / name)


def _installed(folder: Path, kind: str) -> None:
    """How the program came to the computer, for its search for updates."""
    text = json.dumps({"kind": kind, "version": __version__}) + "\n"
    (folder / "installed.json").write_text(text, encoding="utf-8", newline="\n")


def _command(what: str, file: Path) -> str:
    """The line that gives the uninstaller to `signing.py` while the setup program is made."""
    return f'!uninstfinalize \'"{sys.executable}" "{HERE / "signing.py"}" {what} "{file}" "%1"\' = 0'


def _setup(program: Program, setup: Path, finalize: Sequence[str], *, signed_plugins: Path | None, quick: bool) -> None:
    folder, scratch = program.folder, program.scratch
    makensis, nsis = program.tools["makensis"], scratch / "nsis"
    plugins.copy_nsis(makensis, nsis)
    if signed_plugins is not None:
        signing.put_back(signed_plugins, plugins.plugins_folder(nsis))
    # The setup program and the uninstaller keep the times of what they unpack; a checkout has its own.
    side = shutil.copyfile(HERE / "side.bmp", scratch / "side.bmp")
    for each in (nsis, side):
        program.when.set(each)
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    size = sum((folder / file).stat().st_size for file in files)
    put = []
    for parent, inside in itertools.groupby(sorted(files, key=lambda file: file.parent), key=lambda file: file.parent):
        put.append(f'SetOutPath "{_there(parent)}"')
        put += [f'File "{folder / file}"' for file in inside]
    _script(scratch / "files.nsh", put)
    texts = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    _script(
        scratch / "texts.nsh",
        [f'LangString {n} ${{{LANGUAGES[c]}}} "{t}"' for n, said in texts.items() for c, t in said.items()],
    )
    _script(scratch / "finalize.nsh", finalize)
    shutil.copyfile(HERE / "setup.nsi", scratch / "setup.nsi")
    values = {
        "VERSION": __version__,
        "COMMAS": commas().replace(",", "."),
        "MEGABYTES": str(round(size / 1e6)),
        "KILOBYTES": str(round(size / 1024)),
        "ICON": ROOT / "resources" / "icons" / "gpu-assistant.ico",
        "SIDE": side,
        "OUT": setup,
        "COMPRESSOR": "zlib" if quick else "/SOLID lzma",
    }
    defined = [f"-D{name}={value}" for name, value in values.items()]
    fixed = ("-V2", "-WX", "-INPUTCHARSET", "UTF8")
    environ = plugins.makensis_environ(os.environ, nsis)
    _run(makensis, *fixed, *defined, scratch / "setup.nsi", cwd=scratch, environ=environ)


def _there(path: Path) -> PureWindowsPath:
    return PureWindowsPath("$INSTDIR", "new", path)


def _script(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _zip(folder: Path, target: Path, when: Stamp, *, level: int) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(f"GPU Assistant/{file.relative_to(folder).as_posix()}", when.zip_time)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes(), compresslevel=level)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
