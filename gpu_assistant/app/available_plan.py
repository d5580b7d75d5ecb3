"""A plan of which every file can be had, as far as its sources say within a few seconds.

    recommend ─► plan ─► SourceCheck: its index, the general index; mirrors where the own one is silent; the files
        ▲                     │
        └── SourceAnswers ◄───┘      until the recommended build is confirmed, nothing is left to ask, or time is over

Where a build cannot be had, `recommend` itself steps down by the answers (`advise/availability.py`), and the next build
is asked for within the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import UNSET, Struct

from ..advise.availability import usable_mirrors
from ..core.errors import AppError, NetworkError
from ..core.plan import with_checked_files
from ..core.recommendation import UNAVAILABLE_CODES
from ..fetch.request import DownloadRequest
from ..install.environment.location import managed_manifest
from ..install.host import PreviewContext
from ..install.jobs import check_sources
from ..install.jobs.check_sources import MIRROR_DELAY_SECONDS, SourceCheck
from ..install.packages.requirements import compatible_wheels, platform_for, release_label
from ..install.packages.source_check import SourceQuestion
from ..install.packages.uv import own_interpreter
from ..install.steps.context import has_mirror
from ..install.steps.download import DOWNLOADED_CODE
from ..install.steps.python_runtime import find_interpreter
from ..system.probes import is_network_available

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..core.machine import Machine
    from ..core.plan import Plan
    from ..core.recommendation import IndexName, PackageName, PyTorchChoice, Recommendation, SourceAnswer
    from ..core.types import MirrorUse

# The warnings of a recommendation of whose packages nobody is known to have them.
UNDECIDED_CODES = ("source-unknown", "source-unknown-tensorflow")
# Of another computer's network nothing is known here: only what an index has counts.
ANSWERS_FOR_ANY_COMPUTER = ("available", "absent", "damaged")


class AvailableSetup(Struct, frozen=True, kw_only=True):
    """A recommendation and its plan, by what the sources answered; `files` by address, whether they are there."""

    recommendation: Recommendation
    plan: Plan
    files: dict[str, bool | None]


class SourceRetry(Struct, frozen=True, kw_only=True):
    """Nobody answered in time: everybody is asked once more, for at most this long."""

    seconds: float


class AvailableSetupJob:
    """`recommend` and `plan` make both anew from the answers so far. `retries`: where nobody answered in time, as on a
    busy computer, everybody is asked once more, with more time, and a SourceRetry is reported before that.
    `downloads_here`: the files of a plan for another computer, too, are downloaded over this one's network.
    """

    def __init__(
        self,
        machine: Machine,
        context: PreviewContext,
        *,
        recommend: Callable[[tuple[SourceAnswer, ...]], Recommendation],
        plan: Callable[[Recommendation], Plan],
        mirrors: MirrorUse,
        retries: bool = False,
        downloads_here: bool = False,
    ) -> None:
        self._retries = retries
        self._downloads_here = downloads_here
        self._machine = machine
        self._context = context
        self.recommend = recommend
        self.make_plan = plan
        self._mirrors = mirrors

    def run(self, context: JobContext[Any]) -> AvailableSetup:
        """Raises Cancelled, and what `recommend` and `plan` raise."""
        found = self._ask(context, check_sources.CHECK_SECONDS)
        is_undecided = any(warning.code in UNDECIDED_CODES for warning in found.recommendation.warnings)
        if not is_undecided or not self._retries:
            return found
        context.report(SourceRetry(seconds=check_sources.RETRY_SECONDS))
        return self._ask(context, check_sources.RETRY_SECONDS)

    def _ask(self, context: JobContext[Any], seconds: float) -> AvailableSetup:
        recommendation = self.recommend(())
        plan = self.make_plan(recommendation)
        standing = self._find_standing(recommendation, plan)
        if standing is not None:
            return AvailableSetup(recommendation=standing, plan=self.make_plan(standing), files={})
        check = SourceCheck(self._context, cancel=context.cancel, log=context.log, seconds=seconds)
        try:
            check.ask_files([file for step in plan.steps for file in step.files])
            recommendation = self._ask_indexes(recommendation, plan, check)
            if recommendation.sources is not UNSET:
                plan = self.make_plan(recommendation)
            files = self._with_mirrors(plan, check.wait_for_files())
        finally:
            check.finish()
        return AvailableSetup(recommendation=recommendation, plan=with_checked_files(plan, files), files=files)

    def _with_mirrors(self, plan: Plan, files: dict[str, bool | None]) -> dict[str, bool | None]:
        """The same answers, but unknown where a mirror may have what the publisher has no longer."""
        catalog, mirrors = self._context.catalog, self._mirrors
        for file in (file for step in plan.steps for file in step.files if files.get(file.url) is False):
            if has_mirror(DownloadRequest(file=file.remote, path=Path(file.name)), catalog, mirrors):
                files[file.url] = None
        return files

    def _is_elsewhere(self, plan: Plan) -> bool:
        """Whether the files are downloaded over a network of which nothing is known here."""
        return plan.simulated and not self._downloads_here

    def _needs_no_index(self, plan: Plan) -> bool:
        """Whether the wheelhouse or a bundle has the build, or the environment is there."""
        is_local = any(file.source in ("wheelhouse", "bundle") for step in plan.steps for file in step.files)
        is_here = any(step.code == DOWNLOADED_CODE for step in plan.steps)
        return is_local or is_here or (self._downloads_here and self._has_local_build(plan))

    def _has_local_build(self, plan: Plan) -> bool:
        """Whether the wheelhouse has the build for the computer of the plan, whose steps do not name it."""
        recommendation = plan.recommendation
        torch, python = recommendation.pytorch, recommendation.python
        if plan.wheelhouse is None or torch is None or python is None:
            return False
        platform = platform_for(self._machine.os, release_label(recommendation))
        # A wheel without a label is the build that the general index serves.
        plain = self._context.catalog.default_variant(torch.version, platform.system, platform.arch)
        wheels = compatible_wheels(Path(plan.wheelhouse), python, platform.platform_tags)
        build = ("torch", torch.version, torch.variant)
        return any((wheel.project, wheel.version, wheel.variant or plain) == build for wheel in wheels)

    def _find_standing(self, recommendation: Recommendation, plan: Plan) -> Recommendation | None:
        """The recommendation of the environment that stands in the folder, where it is still the one by the answers of
        its own time: an index that answers again makes nothing of it wrong. None where there is nothing of the kind.
        """
        manifest = managed_manifest(Path(plan.env), self._context.data) if not plan.simulated else None
        stored = manifest.recommendation if manifest is not None else None
        if stored is None or stored.sources is UNSET or _packages(stored) == _packages(recommendation):
            return None
        standing = self.recommend(stored.sources)
        return standing if _packages(standing) == _packages(stored) else None

    def _ask_indexes(self, recommendation: Recommendation, plan: Plan, check: SourceCheck) -> Recommendation:
        answers: list[SourceAnswer] = []
        wanted = recommendation
        while True:
            asks_mirrors = check.elapsed >= MIRROR_DELAY_SECONDS or any(
                answer.source == "index" and answer.state != "available" for answer in answers
            )
            for question in (
                *self._questions(wanted, plan, answers, mirrors=asks_mirrors),
                *_needed(self._questions(recommendation, plan, answers, mirrors=False), recommendation),
                *self._companion_questions(recommendation, plan, answers),
            ):
                check.ask(question)
            if _is_settled(recommendation, wanted, answers, check):
                return recommendation
            if not check.pending or not check.remaining:
                return self.recommend(self._usable_answers([*answers, *check.late_answers()], plan))
            delay = None if asks_mirrors else max(MIRROR_DELAY_SECONDS - check.elapsed, 0.0)
            answer = check.wait(delay)
            if answer is not None:
                answers.append(answer)
                recommendation = self.recommend(self._usable_answers(answers, plan))

    def _usable_answers(self, answers: list[SourceAnswer], plan: Plan) -> tuple[SourceAnswer, ...]:
        """The answers that count; for another computer none unless the build's own index answered."""
        if not self._is_elsewhere(plan):
            return tuple(answers)
        usable = tuple(answer for answer in answers if answer.state in ANSWERS_FOR_ANY_COMPUTER)
        return usable if any(answer.source == "index" for answer in usable) else ()

    def _questions(
        self, recommendation: Recommendation, plan: Plan, answers: list[SourceAnswer], *, mirrors: bool
    ) -> Iterator[SourceQuestion]:
        """What to ask for the recommended build, whose own index and whose release's general build are first."""
        torch, catalog, system = recommendation.pytorch, self._context.catalog, self._machine.os
        python, release = recommendation.python, catalog.release(torch.version) if torch is not None else None
        if torch is None or python is None or system.system == "darwin" or self._needs_no_index(plan):
            return
        arch = system.arch or "x86_64"
        ask = self._question_maker(recommendation, plan, python)
        records = release.variants if release is not None else ()
        platform_key = (system.system, arch, torch.variant)
        record = next((v for v in records if (v.system, v.arch, v.variant) == platform_key), None)
        index_url = record.index_url if record is not None else None
        dead = {answer.source for answer in answers if answer.state in ("unreachable", "late")}
        if index_url is not None and "index" not in dead:
            yield ask(source="index", version=torch.version, variant=torch.variant, index_url=index_url)
        default = catalog.default_variant(torch.version, system.system, arch)
        if default is not None and "general" not in dead:
            yield ask(source="general", version=torch.version, variant=default)
        if index_url is None or not mirrors or self._mirrors == "never" or self._is_elsewhere(plan):
            return
        for mirror in usable_mirrors(catalog, index_url):
            yield ask(
                source="mirror",
                version=torch.version,
                variant=torch.variant,
                index_url=mirror.url.replace("{variant}", torch.variant),
                name=mirror.name,
            )

    def _question_maker(self, recommendation: Recommendation, plan: Plan, series: str) -> Callable[..., SourceQuestion]:
        """SourceQuestion for the plan's computer and its Python; of another computer's Pythons there is none here."""
        if plan.simulated:
            platform = platform_for(self._machine.os, release_label(recommendation))
            return partial(SourceQuestion, python=series, interpreter=own_interpreter(), platform=platform)
        found = find_interpreter(self._machine, series)
        is_here = found is not None and Path(found.path).is_file()
        interpreter = Path(found.path) if found is not None and is_here else own_interpreter()
        return partial(SourceQuestion, python=series, interpreter=interpreter)

    def _companion_questions(
        self, recommendation: Recommendation, plan: Plan, answers: list[SourceAnswer]
    ) -> Iterator[SourceQuestion]:
        """What to ask for what goes with the recommended build, at the index that gives that, and for TensorFlow. The
        general index has the packages that both need: where it did not answer for PyTorch, it is asked for another one.
        """
        torch, tensorflow, system = recommendation.pytorch, recommendation.tensorflow, self._machine.os
        python = recommendation.python
        if python is None or system.system == "darwin" or self._needs_no_index(plan):
            return
        ask = self._question_maker(recommendation, plan, python)
        if tensorflow is not None and not _has_local_tensorflow(plan, python):
            wanted = _asked_tensorflow(answers) or tensorflow.version
            yield ask(source="general", package="tensorflow", version=wanted, variant=None)
        if torch is None or torch.source is None:
            return
        source: IndexName = torch.source or ("index" if torch.index_url is not None else "general")
        mirror = next((a.name for a in answers if a.source == "mirror" and _confirms(a, torch)), None)
        packages: tuple[tuple[PackageName, str | None], ...] = (
            ("torchvision", torch.torchvision),
            ("torchaudio", torch.torchaudio),
        )
        for package, version in packages:
            if version is not None:
                yield ask(
                    source=source,
                    package=package,
                    version=version,
                    variant=torch.variant,
                    index_url=torch.index_url,
                    name=mirror if source == "mirror" else None,
                )
        is_general_silent = any(
            a.source == "general" and a.package == "torch" and a.state == "unreachable" for a in answers
        )
        # Builds for AMD and Intel take all that they need from their own index.
        if source != "general" and is_general_silent and torch.variant.startswith(("cu", "cpu")):
            yield ask(source="general", package="numpy", version=None, variant=None)


def _asked_tensorflow(answers: list[SourceAnswer]) -> str | None:
    """The TensorFlow that was asked for: an older one that stands in for it needs no question."""
    return next((answer.version for answer in answers if answer.package == "tensorflow"), None)


def _has_local_tensorflow(plan: Plan, python: str) -> bool:
    """Whether the user's wheelhouse may have TensorFlow."""
    wheels = compatible_wheels(Path(plan.wheelhouse), python) if plan.wheelhouse is not None else ()
    return any(wheel.project == "tensorflow" for wheel in wheels)


def _packages(recommendation: Recommendation) -> tuple[object, ...]:
    """What the environment's packages follow from."""
    torch = recommendation.pytorch
    build = (torch.version, torch.variant, torch.extras) if torch is not None else None
    return build, recommendation.tensorflow, recommendation.python


def _needed(questions: Iterator[SourceQuestion], recommendation: Recommendation) -> Iterator[SourceQuestion]:
    """Of the questions about a build that stands in for the wanted one, those to the index that it would come from."""
    torch = recommendation.pytorch
    return (each for each in questions if torch is not None and each.source == torch.source)


def _is_settled(
    recommendation: Recommendation, wanted: Recommendation, answers: list[SourceAnswer], check: SourceCheck
) -> bool:
    """Whether the recommended build is confirmed, and no source that would go before it, or has what goes with it, is
    still to answer.
    """
    torch, first, pending = recommendation.pytorch, wanted.pytorch, check.pending
    if torch is None or first is None:
        return any(answer.package == "tensorflow" for answer in answers)
    if torch.source is UNSET or torch.source is None:
        return False
    if not any(_confirms(answer, torch) and answer.source == torch.source for answer in answers):
        return False
    # The general index has what every build needs besides.
    if any(question.source in ("index", "general") or question.package != "torch" for question in pending):
        return False
    return not pending or (torch.version, torch.variant) == (first.version, first.variant)


def _confirms(answer: SourceAnswer, torch: PyTorchChoice) -> bool:
    is_same = answer.package == "torch" and (answer.variant == torch.variant or answer.source == "general")
    newest = answer.newest if answer.file is not None else None
    return is_same and torch.version in (newest, answer.version if answer.state == "available" else None)


def availability_error(plan: Plan) -> AppError | None:
    """Why a plan cannot be carried out now: no index gives its PyTorch, or a publisher has a file no longer.

    "source-none", "source-none-card", "no-network" (NetworkError); "file-gone".
    """
    for warning in plan.recommendation.warnings:
        if warning.code in UNAVAILABLE_CODES:
            if not is_network_available():
                return NetworkError("no-network", alternatives=(), release=release_label(plan.recommendation))
            return NetworkError(warning.code, alternatives=(), **warning.data)
    gone = next((file for step in plan.steps for file in step.files if file.checked is False), None)
    return AppError("file-gone", name=gone.name, host=urlsplit(gone.url).hostname) if gone is not None else None
