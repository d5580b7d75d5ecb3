"""The build to recommend where it is known which of the indexes have it.

A build comes from its own index, from the general package index where that serves this very build, or from a mirror
of its own index. Where all of them are known not to give it, the next true choice takes its place: the general index's
build of the same release if it computes on this machine, else an older release. For a GPU that is never the CPU build.

    SourceAnswers (asked by app/available_plan.py) ─► choose_available ─► Supply: the candidate and its source

What goes with the build (torchvision, torchaudio) is left out where the same index is known not to have it. TensorFlow
comes from the general index: the newest series that this has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from ..catalog.records.mirrors import MirrorRecord
from ..catalog.store import Catalog
from ..core.recommendation import IndexName, PackageName, SourceAnswer
from ..core.types import MirrorUse
from ..core.versions import Version
from .builds import Build
from .candidates import (
    Candidate,
    TargetSystem,
    best_candidate,
    best_non_nvidia_candidate,
    computes_without_gpu,
)

# In the order in which they are taken.
INDEX_ORDER: tuple[IndexName, ...] = ("index", "general", "mirror")


class BuildSource(Struct, frozen=True, kw_only=True):
    """An index that may have a build; `answer` is what it said (None: it was not asked)."""

    source: IndexName
    mirror: MirrorRecord | None = None
    answer: SourceAnswer | None = None

    @property
    def is_unasked(self) -> bool:
        """Whether it was not asked, and is still to be: mirrors are taken only where they have the build."""
        return self.answer is None and self.source != "mirror"

    @property
    def is_late(self) -> bool:
        """Whether it did not answer in time, so that nothing is known."""
        return self.answer is not None and self.answer.state == "late"

    @property
    def is_confirmed(self) -> bool:
        """Whether it has the build."""
        return self.answer is not None and self.answer.state == "available"


class Supply(Struct, frozen=True, kw_only=True):
    """The candidate that can be had, and from where; `wanted` is the build in whose place it stands. `source` is None
    where no index gives the build. `local`: the user's wheelhouse has it.
    """

    candidate: Candidate
    wanted: Build
    source: BuildSource | None
    sources_of_wanted: tuple[BuildSource, ...] = ()
    local: bool = False

    @property
    def is_replacement(self) -> bool:
        """Whether another build than the wanted one is recommended."""
        return self.candidate.build.label != self.wanted.label

    @property
    def is_confirmed(self) -> bool:
        """Whether an index said that it has the build."""
        return self.source is not None and self.source.is_confirmed

    @property
    def is_undecided(self) -> bool:
        """Whether the index that may have the build did not answer in time."""
        return self.source is not None and self.source.is_late

    @property
    def source_name(self) -> IndexName | UnsetType | None:
        """The index that gives the build, None where none does; UNSET where none is needed."""
        if self.source is not None:
            return self.source.source
        return UNSET if self.local else None

    @property
    def index_url(self) -> str | None:
        """The address of the index that packages come from; None is the general one."""
        build = self.candidate.build
        if self.source is None or self.source.source == "index":
            return build.record.index_url
        mirror = self.source.mirror
        return mirror.url.replace("{variant}", build.variant) if mirror is not None else None


def usable_mirrors(catalog: Catalog, index_url: str | None) -> tuple[MirrorRecord, ...]:
    """The mirrors of a build's own index whose pages are indexes with hashes, as far as is known."""
    publisher = catalog.index_publisher(index_url)
    mirrors = catalog.mirrors_of(publisher) if publisher is not None else ()
    return tuple(m for m in mirrors if m.kind == "pep503" and m.hashes is not False)


def list_sources(
    target: TargetSystem, build: Build, answers: tuple[SourceAnswer, ...], mirror_use: MirrorUse
) -> tuple[BuildSource, ...]:
    """The indexes that may have a build, in the order in which they are taken."""
    sources: list[BuildSource] = []
    if build.record.index_url is not None:
        sources.append(BuildSource(source="index", answer=_find_answer(build, answers, "index")))
    system, arch = target.machine.os.system, target.arch
    if target.catalog.default_variant(build.version, system, arch) == build.variant:
        sources.append(BuildSource(source="general", answer=_find_answer(build, answers, "general")))
    if mirror_use != "never":
        sources += [
            BuildSource(source="mirror", mirror=mirror, answer=_find_answer(build, answers, "mirror", mirror.name))
            for mirror in usable_mirrors(target.catalog, build.record.index_url)
        ]
    return tuple(sources)


def _find_answer(
    build: Build, answers: tuple[SourceAnswer, ...], source: IndexName, name: str | None = None
) -> SourceAnswer | None:
    """What an index said about a build: asked for it, or what follows from its answer about another one."""
    own = [a for a in answers if (a.package, a.source, a.name) == ("torch", source, name)]
    exact = next((a for a in own if (a.version, a.variant) == (build.version, build.variant)), None)
    if exact is not None:
        return exact
    version = Version.parse(build.version)
    for answer in own:
        # A server that does not answer has nothing for any build; one without a release has none between it and the
        # newest that it has.
        if answer.state in ("unreachable", "late"):
            return answer
        asked, newest = Version.parse(answer.version), Version.parse(answer.newest)
        if source == "general" or answer.variant == build.variant:
            if answer.state != "absent" or version is None or asked is None or version > asked:
                continue
            if newest is None or version > newest:
                return answer
            if version == newest:
                return replace(answer, version=build.version, variant=build.variant, state="available")
    return None


def lacks_companion(supply: Supply, answers: tuple[SourceAnswer, ...], package: str, version: str) -> bool:
    """Whether the index that gives the build is known not to have this release of torchvision or torchaudio for it."""
    source, build = supply.source, supply.candidate.build
    if source is None:
        return False
    place = source.source, source.mirror.name if source.mirror is not None else None
    return any(
        (each.package, each.version, each.source, each.name) == (package, version, *place)
        and (each.source == "general" or each.variant == build.variant)
        and each.state in ("absent", "damaged")
        for each in answers
    )


def find_general_answer(answers: tuple[SourceAnswer, ...], package: PackageName) -> SourceAnswer | None:
    """What the general index said about a package other than PyTorch."""
    return next((each for each in answers if (each.source, each.package) == ("general", package)), None)


def choose_available(
    target: TargetSystem,
    wanted: Candidate,
    answers: tuple[SourceAnswer, ...],
    *,
    mirror_use: MirrorUse,
    is_fixed: bool,
    is_local: bool,
) -> Supply:
    """The wanted build where an index may have it, else the next true choice. `is_fixed`: the user chose the build, so
    that only its source may change; `is_local`: the wheelhouse has it, so that no index is needed.
    """

    sources_of_wanted = list_sources(target, wanted.build, answers, mirror_use)
    if is_local:
        return Supply(candidate=wanted, wanted=wanted.build, source=None, local=True)

    def first_source(candidate: Candidate, conditions: Sequence[str]) -> BuildSource | None:
        sources = list_sources(target, candidate.build, answers, mirror_use)
        if candidate.on_cpu:
            sources = tuple(each for each in sources if each.source == "general")
        return next((each for condition in conditions for each in sources if getattr(each, condition)), None)

    # Whoever did not answer in time may have the build: better than none, worse than one that has.
    for conditions in (("is_confirmed", "is_unasked"), ("is_late",)):
        find_source = partial(first_source, conditions=conditions)
        for candidate in (wanted, *(() if is_fixed else _replacements(target, wanted, find_source))):
            source = find_source(candidate)
            if source is not None:
                return Supply(
                    candidate=candidate, wanted=wanted.build, source=source, sources_of_wanted=sources_of_wanted
                )
    return Supply(candidate=wanted, wanted=wanted.build, source=None, sources_of_wanted=sources_of_wanted)


def _replacements(
    target: TargetSystem, wanted: Candidate, find_source: Callable[[Candidate], BuildSource | None]
) -> Iterator[Candidate]:
    """The builds to take in place of the wanted one, the best first."""

    def has_source(build: Build) -> bool:
        return find_source(Candidate(build=build)) is not None

    if wanted.build.cuda is not None:
        best = best_candidate(target, has_source)
        if best is not None:
            yield best
    elif wanted.build.variant != "cpu":
        other = best_non_nvidia_candidate(target, has_source)
        if other is not None:
            yield other[0]
    else:
        yield from _cpu_replacements(target, wanted.build)


def _cpu_replacements(target: TargetSystem, wanted: Build) -> Iterator[Candidate]:
    """The CPU build of each release, newest first; after it the general index's, if that computes on the CPU too."""
    system, arch = target.machine.os.system, target.arch
    runs_on_cpu = target.gpu is None and computes_without_gpu(target)
    builds = [build for build in target.builds if build.rank >= wanted.rank]
    for build in sorted(builds, key=lambda each: (each.rank, each.variant != "cpu")):
        is_default = target.catalog.default_variant(build.version, system, arch) == build.variant
        if build.variant == "cpu":
            yield Candidate(build=build)
        elif build.cuda is not None and is_default and runs_on_cpu:
            yield Candidate(build=build, on_cpu=True)
