"""From a wish to a lock: asks one source after the other and says what each one answered."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..core import json
from ..core.errors import AppError, NetworkError
from ..core.names import Value
from ..core.paths import DataDir
from ..core.recommendation import Alternative
from ..system.base import ProcessResult
from ..system.network import is_network_available
from . import lock, sources
from .damaged import find_corrupt_wheel
from .lacking import missing_packages
from .lock import Lockfile
from .sources import SourceAnswer, ResolveAttempt, SourceName
from .uv import Uv, error_line
from .wish import PackageRequest, lock_path

COMPILE_TIMEOUT_S = 300.0
# So many packages are named where many are missing.
MAX_NAMED = 3
LOCK_FILE = "pylock.toml"
# The network's own failures, as uv words them; an index that answers "no" is another matter.
NETWORK_ERROR_TEXTS = ("failed to fetch", "error sending request", "request failed", "dns error", "timed out", "connection")


class Resolver:
    """Asks for one wish."""

    def __init__(self, request: PackageRequest, uv: Uv, data: DataDir, interpreter: Path) -> None:
        self.request = request
        self._uv = uv
        self._folder, self._cached_path = data.locks, lock_path(data, request)
        self._interpreter = interpreter
        self._index_unknown = False
        self._answers: dict[SourceName, SourceAnswer] = {
            "wheelhouse": "absent" if request.wheelhouse is not None else "not-given",
            "index": "absent" if request.index_url is not None else "not-given",
            "general": "not-asked",
        }

    def read_cached_lockfile(self) -> Lockfile | None:
        """The lock of an earlier, equal wish, while the local files that it names are still there."""
        from ..fetch.local import local_path

        try:
            lockfile = lock.parse_lockfile(self._cached_path.read_text(encoding="utf-8"), self.request.python, self.request.target)
        except (OSError, UnicodeDecodeError, AppError):
            return None
        local_paths = [path for package in lockfile.packages if (path := local_path(package.file.url)) is not None]
        return lockfile if all(path.is_file() for path in local_paths) else None

    def discard_cached_lockfile(self) -> None:
        """Do not use the kept lock again: a file that it names is not to be had."""
        self._cached_path.unlink(missing_ok=True)

    def resolve(self) -> Lockfile:
        """A lock from the first source that has everything, kept for the next time.

        Raises AppError("release-unavailable") with what is on offer instead, AppError("release-nowhere") or,
        where a source did not answer, NetworkError("no-network"), ("no-source") or ("wheelhouse-lacks") with nothing
        on offer; AppError("resolver-failed"), AppError("wheel-damaged").
        """
        for stale_folder in self._folder.glob("resolve-*"):
            shutil.rmtree(stale_folder, ignore_errors=True)
        for attempt in sources.resolve_attempts(self.request):
            text = self._try_source(attempt)
            if text is not None:
                lockfile = lock.parse_lockfile(text, self.request.python, self.request.target)
                json.write_file(self._cached_path, text)
                return lockfile
        raise self._unavailable_error()

    def _try_source(self, attempt: ResolveAttempt) -> str | None:
        finished, text = self._run_compile(attempt)
        if finished.returncode == 0 and text is not None:
            return text
        self._record_answer(attempt, finished)
        return None

    def _run_compile(self, attempt: ResolveAttempt, *options: str) -> tuple[ProcessResult, str | None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="resolve-", dir=self._folder))
            project, output = folder / "pyproject.toml", folder / LOCK_FILE
            constraints = folder / "constraints.txt"
            constraints.write_text("".join(f"{line}\n" for line in self.request.constraints), encoding="utf-8")
            project.write_text(attempt.render_pyproject(self.request.python), encoding="utf-8")
        except OSError as error:
            raise json.storage_error(error, self._folder) from error
        find_links = ["--find-links", attempt.find_links] if attempt.find_links is not None else []
        offline = ["--no-index", "--offline"] if attempt.offline else []
        platform_option = ["--python-platform", self.request.target.uv_platform] if self.request.target is not None else []
        try:
            finished = self._uv.run(
                *("pip", "compile", project, "--python", self._interpreter, "--python-version", self.request.python),
                *("--format", "pylock.toml", "--output-file", output, "--no-header"),
                *("--only-binary", ":all:", "--quiet", "--constraints", constraints),
                *(*find_links, *offline, *platform_option, *options),
                timeout=COMPILE_TIMEOUT_S,
                cwd=folder,
            )
            return finished, output.read_text(encoding="utf-8") if output.is_file() else None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _record_answer(self, attempt: ResolveAttempt, finished: ProcessResult) -> None:
        """Keep what a source answered; raises AppError where uv failed in a way that no other source mends."""
        text = finished.stderr.lower()
        if "no solution found" in text:
            # The wheelhouse is asked only when it has PyTorch itself.
            self._answers[attempt.source] = "incomplete" if attempt.source == "wheelhouse" else "absent"
        elif _is_network_failure(text):
            torch_index = attempt.torch_index
            is_torch_index = attempt.source == "index" and torch_index is not None and torch_index.lower() in text
            self._answers["index" if is_torch_index else "general"] = "unreachable"
            # uv asks both at once and names the one that failed first: that tells nothing of the other.
            self._index_unknown = attempt.source == "index" and not is_torch_index
            if attempt.source == "wheelhouse":
                self._answers["wheelhouse"] = "incomplete"
        else:
            corrupt_wheel = find_corrupt_wheel(self.request.local_wheels(), finished.stderr)
            if corrupt_wheel is not None:
                raise AppError("wheel-damaged", path=str(corrupt_wheel))
            raise AppError("resolver-failed", detail=error_line(finished))

    def _probe_index(self) -> SourceAnswer:
        """What PyTorch's index answers while the general one is out of reach."""
        pins = (f"torch=={self.request.torch}+{self.request.variant}",)
        attempt = ResolveAttempt(source="index", requirements=(), pinned=pins, torch_index=self.request.index_url)
        finished, _text = self._run_compile(attempt, "--no-deps")
        if finished.returncode == 0:
            return "incomplete"
        return "unreachable" if _is_network_failure(finished.stderr.lower()) else "absent"

    def _unavailable_error(self) -> AppError:
        request = self.request
        if request.tensorflow is not None:
            return self._tensorflow_error()
        if self._index_unknown:
            self._answers["index"] = self._probe_index()
        data = {
            "version": request.torch,
            "variant": request.variant,
            "wheelhouse": f"@answer.{self._answers['wheelhouse']}",
            "index": f"@answer.{self._answers['index']}",
            "general": f"@answer.{self._answers['general']}",
        }
        alternatives = self._alternatives()
        if not alternatives and "unreachable" in self._answers.values():
            missing = missing_packages(request) if self._answers["wheelhouse"] == "incomplete" else ()
            if missing:
                names = ", ".join(missing[:MAX_NAMED]) + (", …" if len(missing) > MAX_NAMED else "")
                return NetworkError("wheelhouse-lacks", alternatives=(), packages=names, **data)
            return self._network_error("no-source", data)
        if not alternatives:
            return AppError("release-nowhere", alternatives=(), **data)
        change = alternatives[0].change
        return AppError("release-unavailable", alternatives=alternatives, offer=change["pytorch"], python=change["python"], **data)

    def _tensorflow_error(self) -> AppError:
        """Which of several packages a source lacks is not told: they must also fit each other."""
        answers: dict[SourceName, str] = dict(self._answers)
        if self.request.torch is None and answers["wheelhouse"] == "incomplete":
            answers["wheelhouse"] = "incomplete-tensorflow"
        data = {name: f"@answer.{answer}" for name, answer in answers.items()} | {"packages": self.request.label}
        suffix = "together" if self.request.torch is not None else "alone"
        if "unreachable" in self._answers.values():
            return self._network_error(f"tensorflow-no-source-{suffix}", data)
        return AppError(f"tensorflow-nowhere-{suffix}", alternatives=(), **data)

    def _network_error(self, code: str, data: Mapping[str, Value]) -> NetworkError:
        """Nobody answers; without any network that alone is told."""
        if is_network_available():
            return NetworkError(code, alternatives=(), **data)
        request = self.request
        torch = f"PyTorch {request.torch}+{request.variant}" if request.torch is not None else None
        release = " + ".join(part for part in (torch, request.tensorflow) if part is not None)
        return NetworkError("no-network", alternatives=(), release=release)

    def _alternatives(self) -> tuple[Alternative, ...]:
        """Other releases of the wanted build that a source has, or this one for another Python."""
        request = self.request
        alternatives: dict[str, Alternative] = {}
        for wheel in sources.other_releases(request):
            python = wheel.python or request.python
            if (wheel.version, python) != (request.torch, request.python):
                alternatives.setdefault(wheel.version, self._make_alternative("wheelhouse-torch", wheel.version, python))
        newest = self._newest_on_index() if self._answers["index"] == "absent" else None
        if newest is not None:
            alternatives.setdefault(newest, self._make_alternative("index-torch", newest, request.python))
        return tuple(alternatives.values())

    def _newest_on_index(self) -> str | None:
        attempt = ResolveAttempt(source="index", requirements=(), pinned=("torch",), torch_index=self.request.index_url)
        finished, text = self._run_compile(attempt, "--no-deps")
        if finished.returncode != 0 or text is None:
            return None
        lockfile = lock.parse_lockfile(text, self.request.python, self.request.target)
        release, _, variant = (lockfile.version("torch") or "").partition("+")
        return release if release and variant == self.request.variant else None

    def _make_alternative(self, code: str, version: str, python: str) -> Alternative:
        change: dict[str, Value] = {"pytorch": version, "variant": self.request.variant, "python": python}
        return Alternative(code=code, change=change, data={**change, "build": f"{version}+{self.request.variant}"})


def _is_network_failure(text: str) -> bool:
    return any(phrase in text for phrase in NETWORK_ERROR_TEXTS)
