"""Puts the program's folder together for one operating system: a Python of its own, the modules it reaches, no more.

    runtime/   CPython and the part of its standard library that is reached, compiled
    app/       the program, its resources and what it needs from other projects, compiled
    licenses/  the licence of every part

Works for another operating system than the one it runs on, as long as this interpreter has the same minor version.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import marshal
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.parser import HeaderParser
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from closure import Closure

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "run.txt"
System = Literal["windows", "linux"]
# 1980-01-01, the earliest that a zip can say.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """What is wrong and what to do, in one sentence."""


@dataclass(frozen=True)
class Part:
    """Somebody's work that is shipped: `sha256` of the archive it came from, None where there was none."""

    name: str
    version: str
    licence: str
    sha256: str | None = None
    purl: str | None = None


@dataclass(frozen=True)
class Shipped:
    """One shipped file or module and why it is there. `path` is relative to the staged folder."""

    path: str
    module: str | None
    why: str


@dataclass(frozen=True)
class Python:
    """A CPython for the target: where its parts lie."""

    system: System
    minor: str
    home: Path
    library: Path
    extensions: Path
    licence: Path | None

    @property
    def suffixes(self) -> list[str]:
        """Endings of its extension modules."""
        compact = self.minor.replace(".", "")
        if self.system == "windows":
            return [f".cp{compact}-win_amd64.pyd", ".pyd"]
        return [f".cpython-{compact}-x86_64-linux-gnu.so", ".abi3.so", ".so"]


@dataclass(frozen=True)
class Staged:
    """What was put together."""

    folder: Path
    python: Python
    parts: tuple[Part, ...]
    shipped: tuple[Shipped, ...]


@dataclass(frozen=True)
class Stamp:
    """The time that every file gets: builds of the same source give the same bytes. Seconds since the epoch."""

    epoch: int

    @property
    def zip_time(self) -> tuple[int, int, int, int, int, int]:
        """As zip files say it, in UTC."""
        when = datetime.fromtimestamp(self.epoch, UTC)
        return (when.year, when.month, when.day, when.hour, when.minute, when.second)

    def set(self, path: Path) -> None:
        """Give it to a file, or to all files and folders below one."""
        for each in (path, *path.rglob("*")):
            os.utime(each, (self.epoch, self.epoch))


def stamp() -> Stamp:
    """SOURCE_DATE_EPOCH, else the last commit's time, which is then set as SOURCE_DATE_EPOCH. Raises BuildError."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if not said:
        git = shutil.which("git")
        done = git and subprocess.run(
            [git, "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not done or not done.stdout.strip():
            raise BuildError("Say in SOURCE_DATE_EPOCH which time the files shall bear: there is no git history here.")
        said = done.stdout.strip()
        os.environ["SOURCE_DATE_EPOCH"] = said
    return Stamp(int(said))


def stage(python: Python, out: Path, *, locks: Sequence[Path] = ()) -> Staged:
    """Fill the empty folder `out`. Of `locks` (hashed requirements) each package replaces the usual one.

    Raises BuildError.
    """
    if python.minor != f"{sys.version_info[0]}.{sys.version_info[1]}":
        raise BuildError(
            f"This Python is {sys.version_info[0]}.{sys.version_info[1]} but the one to ship is {python.minor}: "
            f"run the build with Python {python.minor}."
        )
    rules = json.loads((ROOT / "installers" / "parts.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "site")
        _install(python, site, locks)
        _copy_program(site)
        closure = _reach(python, site, rules)
        shipped = [
            *_modules(closure, python, site, out, rules),
            *_files([*rules["sources"], *rules["files"]["every system"], *rules["files"][python.system]], site, out),
            *_runtime(rules["runtime"][python.system], closure, python, site, out),
            *_resources(site, out),
        ]
        parts = (
            Part("CPython", python.minor, "PSF-2.0"),
            *_licences(site, out, shipped, python, rules["licences"]),
        )
    return Staged(out, python, parts, tuple(sorted(shipped, key=lambda each: each.path)))


def _install(python: Python, site: Path, locks: Sequence[Path]) -> None:
    """Other projects' packages, from wheels whose hashes the lock names."""
    from uv import find_uv_bin

    platform = {"windows": "x86_64-pc-windows-msvc", "linux": "x86_64-manylinux_2_34"}[python.system]
    for lock in (LOCK, *locks):
        words = [
            *("pip", "install", "--quiet", "--target", site, "--python-platform", platform),
            *("--python-version", python.minor, "--require-hashes", "--no-deps", "--only-binary", ":all:"),
            *("--link-mode", "copy", "--reinstall", "-r", lock),
        ]
        done = subprocess.run([find_uv_bin(), *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"The packages of {lock.name} cannot be fetched: {done.stderr.strip()}")


def _copy_program(site: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "gpu_assistant", site / "gpu_assistant", ignore=ignored)
    # The schemas are for who writes such files: the program checks them by its own structs.
    described = shutil.ignore_patterns("schemas")
    shutil.copytree(ROOT / "resources", site / "gpu_assistant" / "resources", ignore=described)


def _reach(python: Python, site: Path, rules: dict[str, Any]) -> Closure:
    path = [site, python.library, python.extensions]
    excluded = [each["name"] for each in rules["excluded"] if each.get("system", python.system) == python.system]
    closure = Closure(path, extension=python.suffixes, excluded=excluded)
    for root in rules["roots"]:
        name = root["name"]
        package = name.removesuffix(".*")
        if closure.add(package) and package != name:
            for each in _submodules(closure.reached[package][0].parent, package, python):
                closure.add(each)
    return closure


def _submodules(folder: Path, package: str, python: Python) -> Iterator[str]:
    for file in sorted(folder.iterdir()):
        stem = next((file.name.removesuffix(s) for s in (*python.suffixes, ".py", ".pyc") if file.name.endswith(s)), "")
        if stem and stem != "__init__":
            yield f"{package}.{stem}"


def _modules(closure: Closure, python: Python, site: Path, out: Path, rules: dict[str, Any]) -> Iterator[Shipped]:
    """Compile and copy every module reached; the standard library goes into a zip."""
    standard = {}
    wordless = {each["name"] for each in rules["without docstrings"]}
    for name, (file, asked) in sorted(closure.reached.items()):
        why = f"imported by {asked}"
        if file.suffix not in (".py", ".pyc"):
            inside = file.is_relative_to(site)
            target = Path("app", file.relative_to(site)) if inside else Path("runtime", file.name)
            _copy(file, out / target)
            yield Shipped(target.as_posix(), name, why)
        elif file.is_relative_to(site):
            target = Path("app", file.relative_to(site)).with_suffix(".pyc")
            (out / target).parent.mkdir(parents=True, exist_ok=True)
            optimize = 2 if any(f"{name}.".startswith(f"{each}.") for each in wordless) else 0
            (out / target).write_bytes(_compiled(file, file.relative_to(site), optimize))
            yield Shipped(target.as_posix(), name, why)
        else:
            inner = file.relative_to(python.library)
            standard[inner.with_suffix(".pyc").as_posix()] = _compiled(file, inner)
            yield Shipped(f"runtime/{_zip_name(python)}/{inner.with_suffix('.pyc').as_posix()}", name, why)
    (out / "runtime").mkdir(parents=True, exist_ok=True)
    # Packed where the interpreter itself can unpack; elsewhere that needs a module that could lie inside.
    how = zipfile.ZIP_DEFLATED if python.system == "windows" else zipfile.ZIP_STORED
    with zipfile.ZipFile(out / "runtime" / _zip_name(python), "w") as archive:
        for inner_name, code in sorted(standard.items()):
            archive.writestr(zipfile.ZipInfo(inner_name, ZIP_TIME), code, compress_type=how)


def _zip_name(python: Python) -> str:
    return f"python{python.minor.replace('.', '')}.zip"


def _compiled(file: Path, shown: Path, optimize: int = 0) -> bytes:
    """A module's bytecode, the same for the same source wherever and whenever it is made. `optimize` as -O counts."""
    if file.suffix == ".pyc":
        return file.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "module.pyc")
        py_compile.compile(
            str(file),
            str(made),
            dfile=shown.as_posix(),
            doraise=True,
            optimize=optimize,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        data = made.read_bytes()
    # Marshal marks what else refers to an object just then; read and written once more, it marks its own content only.
    return data[:16] + marshal.dumps(marshal.loads(data[16:]))


def _files(rules: list[dict[str, str]], site: Path, out: Path) -> Iterator[Shipped]:
    for rule in rules:
        for file in sorted(site.glob(rule["glob"])):
            if file.is_file():
                target = Path("app", file.relative_to(site))
                _copy(file, out / target)
                yield Shipped(target.as_posix(), None, rule["why"])


def _runtime(rules: list[dict[str, Any]], closure: Closure, python: Python, site: Path, out: Path) -> Iterator[Shipped]:
    for rule in rules:
        if rule["beside"] is not None and rule["beside"] not in closure.reached:
            continue
        # What this Python does not bring, a package may.
        for folder in (python.home, python.extensions, *(site / each for each in rule.get("else", ()))):
            for file in sorted(folder.iterdir()):
                if fnmatchcase(file.name.lower(), rule["glob"]) and not (out / "runtime" / file.name.lower()).exists():
                    _copy(file, out / "runtime" / file.name.lower())
                    yield Shipped(f"runtime/{file.name.lower()}", None, rule["why"])


def _resources(site: Path, out: Path) -> Iterator[Shipped]:
    folder = site / "gpu_assistant" / "resources"
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            target = Path("app", file.relative_to(site))
            _copy(file, out / target)
            yield Shipped(target.as_posix(), None, "the program's own data, words and pictures")


def _licences(
    site: Path, out: Path, shipped: Sequence[Shipped], python: Python, licences: list[dict[str, Any]]
) -> Iterator[Part]:
    """Copy the licence texts of every part of which something is shipped, and say which parts these are."""
    folder = out / "licenses"
    tops = {Path(each.path).parts[1].split(".")[0] for each in shipped if each.path.startswith("app/")}
    _copy(ROOT / "LICENSE", folder / "GPU Assistant.txt")
    if python.licence is not None:
        _copy(python.licence, folder / "Python.txt")
    hashes = _hashes()
    for info in sorted(site.glob("*.dist-info")):
        meta = HeaderParser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
        own = {line.split(",")[0].split("/")[0].split(".")[0] for line in (info / "RECORD").read_text().splitlines()}
        if not own & tops - {"", "bin"} and meta["Name"] != "uv":
            continue
        name, version = meta["Name"], meta["Version"]
        texts = [file for file in sorted(info.rglob("*")) if file.is_file() and _is_licence(file, info)]
        for file in texts:
            inner = file.relative_to(info)
            # Equal names lie in folders of their own: numpy alone has a dozen LICENSE.txt.
            _copy(file, folder / name / (inner.relative_to("licenses") if inner.parts[0] == "licenses" else inner))
        if not texts:
            said = next((rule for rule in licences if rule["part"] == name), None)
            if said is None:
                raise BuildError(f"{name} {version} brings no licence text: say in parts.json where it stands.")
            for text in said.get("ours", ()):
                _copy(ROOT / "installers" / "licenses" / text, folder / name / text)
            if "file" in said:
                (folder / name).mkdir(parents=True)
                words = _leading_comment(site / said["file"])
                (folder / name / "LICENSE.txt").write_text(words, encoding="utf-8", newline="\n")
        yield Part(
            name=name,
            version=version,
            licence=_licence_name(meta),
            sha256=hashes.get(f"{name.lower().replace('_', '-')}=={version}"),
            purl=f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
        )


def _is_licence(file: Path, info: Path) -> bool:
    return "licenses" in file.relative_to(info).parts or any(
        word in file.name.lower() for word in ("license", "licence", "copying", "notice")
    )


def _licence_name(meta: Message) -> str:
    """An SPDX expression, else the short name that the part gives itself. Some put the whole text there."""
    if expression := meta["License-Expression"]:
        return str(expression)
    if (short := meta["License"]) and "\n" not in short:
        return str(short)
    classified = (each for each in meta.get_all("Classifier", []) if each.startswith("License ::"))
    return " OR ".join(each.rsplit("::", 1)[1].strip() for each in classified)


def _leading_comment(file: Path) -> str:
    """The comment that a source file starts with."""
    lines = file.read_text(encoding="utf-8").splitlines()
    head = itertools.takewhile(lambda each: each.startswith("#"), lines)
    return "".join(f"{line.lstrip('#').strip()}\n" for line in head)


def _hashes() -> dict[str, str]:
    """Nothing is known of which of a release's files was taken; a release with one file alone has one hash."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if "==" in line:
            name = line.split(";")[0].strip(" \\")
        elif "--hash=sha256:" in line:
            found.setdefault(name, []).append(line.split(":", 1)[1].strip(" \\"))
    return {name: hashes[0] for name, hashes in found.items() if len(hashes) == 1}


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    if os.access(file, os.X_OK):
        target.chmod(0o755)


def digest(file: Path) -> str:
    """A file's sha256 in lower-case hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
