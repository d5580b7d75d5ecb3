"""From a package request to a lock file: asks one source after the other, and says what each one answered.

    requirements.PackageRequest ─► resolve_attempts:  1. the wheelhouse alone, offline
                                                      2. the wheelhouse for PyTorch, PyPI for the rest
                                                      3. PyTorch's own index, PyPI for the rest
                                                      4. PyPI alone, where it has this very build
    each attempt ─► uv pip compile (uv.py) ─► pylock.toml ─► lockfile.parse_lockfile ─► cached in data.locks

The first attempt that succeeds is used. If none does, the error tells each source's answer, and other releases that a
source has. "PyPI" is the general index that the user has set for uv, if any.
"""

from __future__ import annotations

import json as plain_json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import AppError, NetworkError, storage_errors
from ...core.paths import DataDir
from ...core.recommendation import Alternative, LocalWheel
from ...core.types import Value
from ...fetch.credentials import redact_credentials
from ...system.base import ProcessResult
from ...system.probes import is_network_available
from .lockfile import Lockfile, parse_lockfile
from .requirements import (
    PackageRequest,
    cached_lock_path,
    compatible_wheels,
    find_corrupt_wheel,
    missing_packages,
)
from .uv import Uv, error_line, is_disk_full

SourceName = Literal["wheelhouse", "index", "general"]
SourceAnswer = Literal["absent", "variants", "incomplete", "unreachable", "not-given", "not-asked"]
_PROJECT_NAME = re.compile(r"[A-Za-z0-9._-]+")
COMPILE_TIMEOUT_S = 300.0
MAX_MISSING_NAMED = 3  # of many missing packages
LOCK_FILE = "pylock.toml"
# uv's words for a release that an index has as wheel variants alone.
VARIANTS_ONLY_TEXT = "only unsupported wheel variants"
# Parts of uv's messages if no answer came at all; an index that answers that it lacks a package is another case.
NETWORK_ERROR_TEXTS = (
    "failed to fetch",
    "error sending request",
    "request failed",
    "dns error",
    "timed out",
    "connection",
)


class Resolver:
    """Makes the lock file of one request. `interpreter` is a Python that uv may ask; without one it looks for one."""

    def __init__(self, request: PackageRequest, uv: Uv, data: DataDir, interpreter: Path | None) -> None:
        self.request = request
        self._uv = uv
        self._data = data
        self._folder, self._cached_path = data.locks, cached_lock_path(data, request)
        self._interpreter = interpreter
        self._index_unknown = False
        self._answers: dict[SourceName, SourceAnswer] = {
            "wheelhouse": "absent" if request.wheelhouse is not None else "not-given",
            "index": "absent" if request.index_url is not None else "not-given",
            "general": "not-asked",
        }

    def read_cached_lockfile(self) -> Lockfile | None:
        """The lock file of an earlier, equal request, if the local files that it names are still there."""
        from ...fetch.partial_file import local_path

        try:
            lockfile = self._parse(filesystem.read_text(self._cached_path))
        except (OSError, UnicodeDecodeError, AppError):
            return None
        local_paths = [path for package in lockfile.packages if (path := local_path(package.file.url)) is not None]
        return lockfile if all(path.is_file() for path in local_paths) else None

    def discard_cached_lockfile(self) -> None:
        """Delete it, because a file that it names cannot be downloaded."""
        filesystem.unlink(self._cached_path, missing_ok=True)

    def resolve(self) -> Lockfile:
        """The lock file from the first source that has everything; it is cached.

        Raises AppError: release-unavailable (with alternatives), release-nowhere, tensorflow-nowhere-…,
        resolver-failed, wheel-damaged; NetworkError if a source did not answer: no-network, no-source,
        wheelhouse-lacks, tensorflow-no-source-….
        """
        self._data.claim(self._folder)
        for stale_folder in self._folder.glob("resolve-*"):
            filesystem.rmtree(stale_folder, ignore_errors=True)
        for attempt in resolve_attempts(self.request):
            text = self._try_source(attempt)
            if text is not None:
                lockfile = self._parse(text)
                json.write_file(self._cached_path, text)
                return lockfile
        raise self._unavailable_error()

    def _parse(self, text: str) -> Lockfile:
        return parse_lockfile(text, self.request.python, self.request.platform, self.request.sdists)

    def _try_source(self, attempt: ResolveAttempt) -> str | None:
        finished, text = self._run_compile(attempt)
        if finished.returncode == 0 and text is not None:
            return text
        self._record_answer(attempt, finished)
        return None

    def _run_compile(self, attempt: ResolveAttempt, *options: str) -> tuple[ProcessResult, str | None]:
        with storage_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="resolve-", dir=self._folder))
            project, output = folder / "pyproject.toml", folder / LOCK_FILE
            constraints = folder / "constraints.txt"
            constraints.write_text("".join(f"{line}\n" for line in self.request.constraints), encoding="utf-8")
            project.write_text(attempt.render_pyproject(self.request.python), encoding="utf-8")
        find_links = ["--find-links", attempt.find_links] if attempt.find_links is not None else []
        # Without configuration files uv takes the project's index for the pinned packages alone.
        for_all = ["--index", attempt.torch_index] if attempt.torch_index is not None and not attempt.explicit else []
        offline = ["--no-index", "--offline"] if attempt.offline else []
        interpreter = ("--python", self._interpreter) if self._interpreter is not None else ()
        platform_option = (
            ["--python-platform", self.request.platform.uv_platform] if self.request.platform is not None else []
        )
        try:
            finished = self._uv.run(
                *("pip", "compile", project, *interpreter, "--python-version", self.request.python),
                *("--format", "pylock.toml", "--output-file", output, "--no-header"),
                *("--only-binary", ":all:", "--quiet", "--constraints", constraints),
                *(option for name in self.request.sdists for option in ("--no-binary", name)),
                *(*find_links, *for_all, *offline, *platform_option, *options),
                timeout=COMPILE_TIMEOUT_S,
                cwd=folder,
            )
            return finished, redact_credentials(output.read_text(encoding="utf-8")) if output.is_file() else None
        finally:
            filesystem.rmtree(folder, ignore_errors=True)

    def _record_answer(self, attempt: ResolveAttempt, finished: ProcessResult) -> None:
        """Record what a source answered; raises AppError if uv failed for a reason that is not the source's."""
        text = finished.stderr.lower()
        if is_disk_full(finished):
            raise AppError("disk-full", path=str(self._folder))
        if "no solution found" in text:
            # The wheelhouse is asked only if it has PyTorch itself, so a dependency is missing.
            missing: SourceAnswer = "variants" if VARIANTS_ONLY_TEXT in text else "absent"
            self._answers[attempt.source] = "incomplete" if attempt.source == "wheelhouse" else missing
        elif is_network_failure(text):
            torch_index = attempt.torch_index
            is_torch_index = attempt.source == "index" and torch_index is not None and torch_index.lower() in text
            self._answers["index" if is_torch_index else "general"] = "unreachable"
            # uv asks both indexes at once and names the one that failed first; the other is unknown.
            self._index_unknown = attempt.source == "index" and not is_torch_index
            if attempt.source == "wheelhouse":
                self._answers["wheelhouse"] = "incomplete"
        else:
            corrupt_wheel = find_corrupt_wheel(self.request.local_wheels(), finished.stderr)
            if corrupt_wheel is not None:
                raise AppError("wheel-damaged", path=str(corrupt_wheel))
            raise AppError("resolver-failed", detail=error_line(finished))

    def _probe_index(self) -> SourceAnswer:
        """What PyTorch's index answers while the general one does not."""
        pins = (f"torch=={self.request.torch}+{self.request.variant}",)
        attempt = ResolveAttempt(source="index", requirements=(), pinned=pins, torch_index=self.request.index_url)
        finished, _text = self._run_compile(attempt, "--no-deps")
        if finished.returncode == 0:
            return "incomplete"
        return "unreachable" if is_network_failure(finished.stderr.lower()) else "absent"

    def _unavailable_error(self) -> AppError:
        request = self.request
        if request.added:
            return self._added_error()
        if request.tensorflow is not None:
            return self._tensorflow_error()
        if self._index_unknown:
            self._answers["index"] = self._probe_index()
        data = {
            "version": request.torch,
            "variant": request.variant,
            "site": request.site,
            "wheelhouse": f"@answer.{self._answers['wheelhouse']}",
            "index": f"@answer.{self._answers['index']}",
            "general": f"@answer.{self._answers['general']}",
        }
        alternatives = self._alternatives()
        if not alternatives and "unreachable" in self._answers.values():
            missing = missing_packages(request) if self._answers["wheelhouse"] == "incomplete" else ()
            if missing:
                names = ", ".join(missing[:MAX_MISSING_NAMED]) + (", …" if len(missing) > MAX_MISSING_NAMED else "")
                return NetworkError("wheelhouse-lacks", alternatives=(), packages=names, **data)
            return self._network_error("no-source", data)
        if not alternatives:
            return AppError("release-nowhere", alternatives=(), **data)
        change = alternatives[0].change
        return AppError(
            "release-unavailable", alternatives=alternatives, offer=change["pytorch"], python=change["python"], **data
        )

    def _added_error(self) -> AppError:
        names = ", ".join(self.request.added)
        if self._answers["general"] == "unreachable":
            return NetworkError("added-unreachable", packages=names)
        return AppError("added-nowhere", packages=names)

    def _tensorflow_error(self) -> AppError:
        """Does not say which package a source lacks: they may all be there, but in versions that conflict."""
        answers: dict[SourceName, str] = dict(self._answers)
        if self.request.torch is None and answers["wheelhouse"] == "incomplete":
            answers["wheelhouse"] = "incomplete-tensorflow"
        data: dict[str, Value] = {name: f"@answer.{answer}" for name, answer in answers.items()}
        data |= {"packages": self.request.label, "site": self.request.site}
        suffix = "together" if self.request.torch is not None else "alone"
        if "unreachable" in self._answers.values():
            return self._network_error(f"tensorflow-no-source-{suffix}", data)
        return AppError(f"tensorflow-nowhere-{suffix}", alternatives=(), **data)

    def _network_error(self, code: str, data: Mapping[str, Value]) -> NetworkError:
        """The error if a source did not answer; "no-network" if this computer is not connected."""
        if is_network_available():
            return NetworkError(code, alternatives=(), **data)
        request = self.request
        torch = f"PyTorch {request.torch}+{request.variant}" if request.torch is not None else None
        release = " + ".join(part for part in (torch, request.tensorflow) if part is not None)
        return NetworkError("no-network", alternatives=(), release=release)

    def _alternatives(self) -> tuple[Alternative, ...]:
        """Other releases of the requested build that a source has, or the same one for another Python."""
        request = self.request
        alternatives: dict[str, Alternative] = {}
        for wheel in _other_releases(request):
            python = wheel.python or request.python
            if (wheel.version, python) != (request.torch, request.python):
                alternatives.setdefault(
                    wheel.version, self._make_alternative("wheelhouse-torch", wheel.version, python)
                )
        newest = self._newest_on_index() if self._answers["index"] in ("absent", "variants") else None
        if newest is not None:
            alternatives.setdefault(newest, self._make_alternative("index-torch", newest, request.python))
        return tuple(alternatives.values())

    def _newest_on_index(self) -> str | None:
        attempt = ResolveAttempt(source="index", requirements=(), pinned=("torch",), torch_index=self.request.index_url)
        finished, text = self._run_compile(attempt, "--no-deps")
        if finished.returncode != 0 or text is None:
            return None
        lockfile = self._parse(text)
        release, _, variant = (lockfile.version("torch") or "").partition("+")
        return release if release and variant == self.request.variant else None

    def _make_alternative(self, code: str, version: str, python: str) -> Alternative:
        change: dict[str, Value] = {"pytorch": version, "variant": self.request.variant, "python": python}
        data = {**change, "build": f"{version}+{self.request.variant}", "site": self.request.site}
        return Alternative(code=code, change=change, data=data)


def is_network_failure(text: str) -> bool:
    """Whether a program's error, in lower case, says that no answer came at all."""
    return any(phrase in text for phrase in NETWORK_ERROR_TEXTS)


class ResolveAttempt(Struct, frozen=True, kw_only=True):
    """The arguments of one `uv pip compile`. The `pinned` requirements come from `source`.

    `torch_index` is an index for the pinned packages (`flat`: a folder of wheels), and for all if it is not `explicit`;
    `find_links` is a folder for all packages; `offline`: no index is asked.
    """

    source: SourceName
    requirements: tuple[str, ...]
    pinned: tuple[str, ...] = ()
    torch_index: str | None = None
    flat: bool = False
    explicit: bool = True
    find_links: str | None = None
    offline: bool = False

    def render_pyproject(self, python: str) -> str:
        """The pyproject.toml that uv compiles. JSON strings are valid in TOML."""
        lines = [
            "[project]",
            'name = "environment"',
            'version = "0"',
            f"requires-python = {plain_json.dumps(f'=={python}.*')}",
            f"dependencies = {plain_json.dumps([*self.pinned, *self.requirements])}",
        ]
        if self.torch_index is not None:
            lines.append("[tool.uv.sources]")
            names = [match[0] for pin in self.pinned if (match := _PROJECT_NAME.match(pin)) is not None]
            lines += [f'{name} = {{ index = "source" }}' for name in names]
            lines += ["[[tool.uv.index]]", 'name = "source"', f"url = {plain_json.dumps(self.torch_index)}"]
            lines += [f"explicit = {str(self.explicit).lower()}", *(['format = "flat"'] if self.flat else [])]
        return "\n".join(lines) + "\n"


def resolve_attempts(request: PackageRequest) -> Iterator[ResolveAttempt]:
    """The attempts in order, as at the top of this file."""
    if request.added:
        if request.wheelhouse is not None:
            folder = request.wheelhouse
            yield ResolveAttempt(source="wheelhouse", requirements=request.added, find_links=folder, offline=True)
        yield ResolveAttempt(source="general", requirements=request.added)
        return
    wheelhouse_pins = _local_pins(request)
    requirements = _general_requirements(request)
    if wheelhouse_pins is not None and request.wheelhouse is not None:
        yield ResolveAttempt(
            source="wheelhouse",
            requirements=requirements,
            pinned=wheelhouse_pins,
            find_links=request.wheelhouse,
            offline=True,
        )
        folder = Path(request.wheelhouse).as_uri()
        yield ResolveAttempt(
            source="wheelhouse", requirements=requirements, pinned=wheelhouse_pins, torch_index=folder, flat=True
        )
    if request.torch is None:
        yield ResolveAttempt(source="general", requirements=requirements, pinned=_tensorflow_pins(request))
        return
    if request.index_url is not None and request.variant is not None:
        # AMD and Intel builds need packages that only PyTorch's index has; the others need nothing else from it.
        explicit = request.variant.startswith(("cu", "cpu"))
        for pins in _pin_sets(request, f"+{request.variant}"):
            yield ResolveAttempt(
                source="index",
                requirements=requirements,
                pinned=pins,
                torch_index=request.index_url,
                explicit=explicit,
            )
    if request.serves_variant:
        for pins in _pin_sets(request, ""):
            yield ResolveAttempt(source="general", requirements=requirements, pinned=pins)


def named_requirements(request: PackageRequest) -> tuple[str, ...]:
    """The requirements that the indexes are asked for, and the constraints, each project once."""
    tag = f"+{request.variant}" if request.index_url is not None and request.variant is not None else ""
    pins = next(_pin_sets(request, tag)) if request.torch is not None else _tensorflow_pins(request)
    constrained = {match[0] for line in request.constraints if (match := _PROJECT_NAME.match(line)) is not None}
    return (*pins, *(line for line in _general_requirements(request) if line not in constrained), *request.constraints)


def _tensorflow_pins(request: PackageRequest) -> tuple[str, ...]:
    return (request.tensorflow,) if request.tensorflow is not None else ()


def _general_requirements(request: PackageRequest) -> tuple[str, ...]:
    """The packages of the general index; beside PyTorch that includes TensorFlow."""
    packages = (*request.base_packages, *request.toolkit)
    return packages if request.torch is None else (*packages, *_tensorflow_pins(request))


def _local_pins(request: PackageRequest) -> tuple[str, ...] | None:
    """Requirements for PyTorch, torchvision and torchaudio, or else TensorFlow, as the wheelhouse has them; None if it
    does not have the requested build.
    """
    if request.torch is None:
        return (
            _tensorflow_pins(request)
            if any(wheel.project == "tensorflow" for wheel in request.local_wheels())
            else None
        )
    torch = _local_pin("torch", request.torch, request)
    if torch is None:
        return None
    companions = (
        _local_pin("torchvision", request.torchvision, request),
        _local_pin("torchaudio", request.torchaudio, request),
    )
    return (torch, *(pin for pin in companions if pin is not None))


def _local_pin(project: str, version: str | None, request: PackageRequest) -> str | None:
    wheels = [w for w in request.local_wheels() if (w.project, w.version) == (project, version)]
    if any(wheel.variant == request.variant for wheel in wheels):
        return f"{project}=={version}+{request.variant}"
    # A wheel without a version label is PyPI's build; "==2.13.0" would also match one with a label beside it.
    if wheels and request.serves_variant and all(wheel.variant is None for wheel in wheels):
        return f"{project}=={version}"
    return None


def _pin_sets(request: PackageRequest, tag: str) -> Iterator[tuple[str, ...]]:
    """First with torchvision and torchaudio, then without: a source may have only PyTorch."""
    extras = f"[{','.join(request.extras)}]" if request.extras else ""
    torch = f"torch{extras}=={request.torch}{tag}"
    companions = [(f"torchvision{extras}", request.torchvision), ("torchaudio", request.torchaudio)]
    pins = [f"{name}=={version}{tag}" for name, version in companions if version is not None]
    for count in range(len(pins), -1, -1):
        yield (torch, *pins[:count])


def _other_releases(request: PackageRequest) -> tuple[LocalWheel, ...]:
    """The wheelhouse's other releases of the requested build, newest first, those for this Python before others."""
    if request.wheelhouse is None:
        return ()
    wheels = compatible_wheels(
        Path(request.wheelhouse), platforms=request.platform.platform_tags if request.platform is not None else None
    )
    matching = [w for w in wheels if (w.project, w.variant) == ("torch", request.variant)]
    return tuple(sorted(matching, key=lambda wheel: wheel.python not in (None, request.python)))
