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
from ..system.base import Finished
from ..system.network import connected
from . import lock, sources
from .damaged import blamed
from .lacking import lacking
from .lock import Lock
from .sources import Answer, Attempt, SourceName
from .uv import Uv, last_line
from .wish import Wish, lock_path

TIMEOUT_S = 300.0
# So many packages are named where many are missing.
NAMED = 3
LOCK_FILE = "pylock.toml"
# The network's own failures, as uv words them; an index that answers "no" is another matter.
UNREACHABLE = ("failed to fetch", "error sending request", "request failed", "dns error", "timed out", "connection")


class Resolver:
    """Asks for one wish."""

    def __init__(self, wish: Wish, uv: Uv, data: DataDir, interpreter: Path) -> None:
        self.wish = wish
        self._uv = uv
        self._folder, self._kept = data.locks, lock_path(data, wish)
        self._interpreter = interpreter
        self._index_open = False
        self._answers: dict[SourceName, Answer] = {
            "wheelhouse": "absent" if wish.wheelhouse is not None else "not-given",
            "index": "absent" if wish.index_url is not None else "not-given",
            "general": "not-asked",
        }

    def earlier(self) -> Lock | None:
        """The lock of an earlier, equal wish, while the local files that it names are still there."""
        from ..fetch.local import local_path

        try:
            found = lock.parse(self._kept.read_text(encoding="utf-8"), self.wish.python, self.wish.target)
        except (OSError, UnicodeDecodeError, AppError):
            return None
        local = [path for package in found.packages if (path := local_path(package.file.url)) is not None]
        return found if all(path.is_file() for path in local) else None

    def forget(self) -> None:
        """Do not use the kept lock again: a file that it names is not to be had."""
        self._kept.unlink(missing_ok=True)

    def resolve(self) -> Lock:
        """A lock from the first source that has everything, kept for the next time.

        Raises AppError("release-unavailable") with what is on offer instead, AppError("release-nowhere") or,
        where a source did not answer, NetworkError("no-network"), ("no-source") or ("wheelhouse-lacks") with nothing
        on offer; AppError("resolver-failed"), AppError("wheel-damaged").
        """
        for left in self._folder.glob("resolve-*"):
            shutil.rmtree(left, ignore_errors=True)
        for attempt in sources.attempts(self.wish):
            text = self._ask(attempt)
            if text is not None:
                found = lock.parse(text, self.wish.python, self.wish.target)
                json.write_file(self._kept, text)
                return found
        raise self._unavailable()

    def _ask(self, attempt: Attempt) -> str | None:
        finished, text = self._compile(attempt)
        if finished.code == 0 and text is not None:
            return text
        self._note(attempt, finished)
        return None

    def _compile(self, attempt: Attempt, *more: str) -> tuple[Finished, str | None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="resolve-", dir=self._folder))
            project, output = folder / "pyproject.toml", folder / LOCK_FILE
            held = folder / "constraints.txt"
            held.write_text("".join(f"{line}\n" for line in self.wish.constraints), encoding="utf-8")
            project.write_text(attempt.pyproject(self.wish.python), encoding="utf-8")
        except OSError as error:
            raise json.storage_error(error, self._folder) from error
        where = ["--find-links", attempt.find_links] if attempt.find_links is not None else []
        offline = ["--no-index", "--offline"] if attempt.offline else []
        target = ["--python-platform", self.wish.target.uv] if self.wish.target is not None else []
        try:
            finished = self._uv.run(
                *("pip", "compile", project, "--python", self._interpreter, "--python-version", self.wish.python),
                *("--format", "pylock.toml", "--output-file", output, "--no-header"),
                *("--only-binary", ":all:", "--quiet", "--constraints", held),
                *(*where, *offline, *target, *more),
                timeout=TIMEOUT_S,
                cwd=folder,
            )
            return finished, output.read_text(encoding="utf-8") if output.is_file() else None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _note(self, attempt: Attempt, finished: Finished) -> None:
        """Keep what a source answered; raises AppError where uv failed in a way that no other source mends."""
        text = finished.err.lower()
        if "no solution found" in text:
            # The wheelhouse is asked only when it has PyTorch itself.
            self._answers[attempt.source] = "incomplete" if attempt.source == "wheelhouse" else "absent"
        elif _network(text):
            asked = attempt.torch_index
            own = attempt.source == "index" and asked is not None and asked.lower() in text
            self._answers["index" if own else "general"] = "unreachable"
            # uv asks both at once and names the one that failed first: that tells nothing of the other.
            self._index_open = attempt.source == "index" and not own
            if attempt.source == "wheelhouse":
                self._answers["wheelhouse"] = "incomplete"
        else:
            broken = blamed(self.wish.local_wheels(), finished.err)
            if broken is not None:
                raise AppError("wheel-damaged", path=str(broken))
            raise AppError("resolver-failed", detail=last_line(finished))

    def _ask_index_alone(self) -> Answer:
        """What PyTorch's index answers while the general one is out of reach."""
        pins = (f"torch=={self.wish.torch}+{self.wish.variant}",)
        attempt = Attempt(source="index", requirements=(), pinned=pins, torch_index=self.wish.index_url)
        finished, _text = self._compile(attempt, "--no-deps")
        if finished.code == 0:
            return "incomplete"
        return "unreachable" if _network(finished.err.lower()) else "absent"

    def _unavailable(self) -> AppError:
        wish = self.wish
        if wish.tensorflow is not None:
            return self._no_tensorflow()
        if self._index_open:
            self._answers["index"] = self._ask_index_alone()
        data = {
            "version": wish.torch,
            "variant": wish.variant,
            "wheelhouse": f"@answer.{self._answers['wheelhouse']}",
            "index": f"@answer.{self._answers['index']}",
            "general": f"@answer.{self._answers['general']}",
        }
        offers = self._offers()
        if not offers and "unreachable" in self._answers.values():
            missing = lacking(wish) if self._answers["wheelhouse"] == "incomplete" else ()
            if missing:
                named = ", ".join(missing[:NAMED]) + (", …" if len(missing) > NAMED else "")
                return NetworkError("wheelhouse-lacks", offers=(), packages=named, **data)
            return self._silence("no-source", data)
        if not offers:
            return AppError("release-nowhere", offers=(), **data)
        change = offers[0].change
        return AppError("release-unavailable", offers=offers, offer=change["pytorch"], python=change["python"], **data)

    def _no_tensorflow(self) -> AppError:
        """Which of several packages a source lacks is not told: they must also fit each other."""
        answers: dict[SourceName, str] = dict(self._answers)
        if self.wish.torch is None and answers["wheelhouse"] == "incomplete":
            answers["wheelhouse"] = "incomplete-tensorflow"
        data = {name: f"@answer.{answer}" for name, answer in answers.items()} | {"packages": self.wish.label}
        kind = "together" if self.wish.torch is not None else "alone"
        if "unreachable" in self._answers.values():
            return self._silence(f"tensorflow-no-source-{kind}", data)
        return AppError(f"tensorflow-nowhere-{kind}", offers=(), **data)

    def _silence(self, code: str, data: Mapping[str, Value]) -> NetworkError:
        """Nobody answers; without any network that alone is told."""
        if connected():
            return NetworkError(code, offers=(), **data)
        wish = self.wish
        torch = f"PyTorch {wish.torch}+{wish.variant}" if wish.torch is not None else None
        release = " + ".join(part for part in (torch, wish.tensorflow) if part is not None)
        return NetworkError("no-network", offers=(), release=release)

    def _offers(self) -> tuple[Alternative, ...]:
        """Other releases of the wanted build that a source has, or this one for another Python."""
        wish = self.wish
        found: dict[str, Alternative] = {}
        for wheel in sources.other_releases(wish):
            python = wheel.python or wish.python
            if (wheel.version, python) != (wish.torch, wish.python):
                found.setdefault(wheel.version, self._offer("wheelhouse-torch", wheel.version, python))
        newest = self._newest_on_index() if self._answers["index"] == "absent" else None
        if newest is not None:
            found.setdefault(newest, self._offer("index-torch", newest, wish.python))
        return tuple(found.values())

    def _newest_on_index(self) -> str | None:
        attempt = Attempt(source="index", requirements=(), pinned=("torch",), torch_index=self.wish.index_url)
        finished, text = self._compile(attempt, "--no-deps")
        if finished.code != 0 or text is None:
            return None
        found = lock.parse(text, self.wish.python, self.wish.target)
        release, _, variant = (found.version("torch") or "").partition("+")
        return release if release and variant == self.wish.variant else None

    def _offer(self, code: str, version: str, python: str) -> Alternative:
        change: dict[str, Value] = {"pytorch": version, "variant": self.wish.variant, "python": python}
        return Alternative(code=code, change=change, data={**change, "build": f"{version}+{self.wish.variant}"})


def _network(text: str) -> bool:
    return any(sign in text for sign in UNREACHABLE)
