"""The catalog beside the general package index: what that confirms, what it contradicts, what the catalog lacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from ..catalog.store import Catalog
from ..core.errors import NetworkError
from ..core.jobs import JobContext
from ..core.versions import Version, version_text
from .index_facts import ARCH, SYSTEM, IndexFacts, TorchRequirements
from .index_reader import IndexUnusable, ReleaseIndex, read_first

FactState = Literal["confirmed", "different", "unknown"]
FactName = Literal["release", "build", "cuda", "cudnn", "package", "newest"]


class FactComparison(Struct, frozen=True, kw_only=True):
    """One fact: about what (`subject`, `version`, and of a cuDNN the `cuda_major`), what the catalog says (None:
    nothing), and what the index says (None: it has no such release). Unknown is what the catalog does not say.
    """

    subject: Literal["pytorch", "cuda", "cudnn", "tensorflow"]
    version: str
    fact: FactName
    state: FactState
    catalog: str | None
    index: str | None
    cuda_major: int | None = None


class IndexReport(Struct, frozen=True, kw_only=True):
    """All that was compared, and whose index it was (None: uv's own)."""

    host: str | None
    facts: tuple[FactComparison, ...]


class IndexCheckJob:
    """Reads an index and compares the catalog with it: an IndexReport. `newest` releases of each package are read.

    Raises NetworkError("index-silent") where no index gave a usable answer, AppError, Cancelled.
    """

    def __init__(
        self, catalog: Catalog, newest: int, indexes: Callable[[threading.Event], Iterable[ReleaseIndex]]
    ) -> None:
        self._catalog = catalog
        self._newest = newest
        self._indexes = indexes

    def run(self, context: JobContext[Any]) -> IndexReport:
        """Ask and compare."""
        try:
            facts, host = read_first(
                self._indexes(context.cancel),
                self._catalog,
                self._newest,
                until_known=False,
                check_cancelled=context.check_cancelled,
            )
        except IndexUnusable as error:
            raise NetworkError("index-silent", why=f"@catalog.why.{error.reason}") from error
        return IndexReport(host=host, facts=tuple(compare_facts(self._catalog, facts)))


def compare_facts(catalog: Catalog, facts: IndexFacts) -> Iterator[FactComparison]:
    """Every fact of the index beside the catalog's, and what the catalog has between the oldest and the newest release
    that were read, and the index has not.
    """
    for told in facts.pytorch:
        yield from _compare_pytorch(catalog, told)
    seen = {told.version for told in facts.pytorch}
    for release in catalog.releases:
        if SYSTEM in release.default_variant and _is_missing(release.version, seen):
            yield FactComparison(
                subject="pytorch",
                version=release.version.text,
                fact="release",
                state="different",
                catalog=release.version.text,
                index=None,
            )
    toolkits = {toolkit.version for toolkit in catalog.cuda.toolkits}
    for version in facts.toolkits:
        is_known = version in toolkits
        yield FactComparison(
            subject="cuda",
            version=version.text,
            fact="release",
            state="confirmed" if is_known else "unknown",
            catalog=version.text if is_known else None,
            index=version.text,
        )
    for major, versions in facts.cudnn.items():
        yield from _compare_cudnn(catalog, major, versions)
    if facts.tensorflow is not None:
        known = catalog.tensorflow.newest
        newer = facts.tensorflow.series > known.series
        is_same = facts.tensorflow.series == known.series
        yield FactComparison(
            subject="tensorflow",
            version=facts.tensorflow.text,
            fact="newest",
            state="confirmed" if is_same else "unknown" if newer else "different",
            catalog=None if newer else known.text,
            index=facts.tensorflow.text,
        )


def _compare_pytorch(catalog: Catalog, told: TorchRequirements) -> Iterator[FactComparison]:
    release = next((each for each in catalog.releases if each.version == told.version), None)
    text = told.version.text

    def compare(fact: FactName, known: str | None, index: str | None, *, is_same: bool | None = None) -> FactComparison:
        same = known == index if is_same is None else is_same
        state: FactState = "unknown" if known is None else "confirmed" if same else "different"
        return FactComparison(subject="pytorch", version=text, fact=fact, state=state, catalog=known, index=index)

    yield compare("release", release.version.text if release is not None else None, text, is_same=True)
    if release is None:
        return
    yield compare("build", release.default_variant.get(SYSTEM), told.variant)
    build = catalog.build(release.version.text, told.variant, SYSTEM, ARCH)
    if build is None:
        return
    if told.cuda is not None and told.is_update:
        yield compare("cuda", version_text(build.cuda), told.cuda.text, is_same=build.cuda == told.cuda)
    if told.cudnn is not None:
        yield compare("cudnn", version_text(build.cudnn), told.cudnn.text, is_same=build.cudnn == told.cudnn)


def _compare_cudnn(catalog: Catalog, major: int, versions: tuple[Version, ...]) -> Iterator[FactComparison]:
    releases = {release.version: release for release in catalog.cudnn.releases}
    for version in versions:
        release = releases.get(version)
        has_package = release is not None and major in release.wheels
        yield FactComparison(
            subject="cudnn",
            version=version.text,
            fact="package",
            state="unknown" if release is None else "confirmed" if has_package else "different",
            catalog=version.text if has_package else None,
            index=version.text,
            cuda_major=major,
        )
    for version, release in releases.items():
        if major in release.wheels and not release.yanked and _is_missing(version, set(versions)):
            yield FactComparison(
                subject="cudnn",
                version=version.text,
                fact="package",
                state="different",
                catalog=version.text,
                index=None,
                cuda_major=major,
            )


def _is_missing(version: Version, seen: set[Version]) -> bool:
    """Whether the index was read as far back as this release and did not have it."""
    return bool(seen) and version not in seen and version > min(seen)
