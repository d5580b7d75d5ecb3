"""Reads what the general package index says of PyTorch, CUDA, cuDNN and TensorFlow.

ReleaseIndex.resolve (uv) ─► IndexReader ─► IndexFacts ─┬─► index_facts.merge_*_facts: what is new, into the catalog
                                                        └─► index_check.compare_facts: what the catalog says beside it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from ..catalog.store import Catalog
from ..core.recommendation import SourceState
from ..core.versions import Version
from ..update.signed_statement import RejectionReason
from .index_facts import ARCH, SYSTEM, IndexFacts, TorchRequirements

_REASONS: Mapping[SourceState, RejectionReason] = {"unreachable": "unreachable", "late": "unreachable"}


class ReleaseIndex(Protocol):
    """An index that resolves requirements to the newest versions (`install/packages/package_index.py`)."""

    @property
    def host(self) -> str | None:
        """The server; None where its address is not known here."""

    def resolve(
        self, requirements: Sequence[str], *, python: str, constraints: Sequence[str] = (), dependencies: bool = False
    ) -> tuple[SourceState, dict[str, str]]:
        """The newest version of each package."""


class IndexUnusable(Exception):
    """An index gave no answer, or none that can be understood."""

    def __init__(self, reason: RejectionReason, host: str | None) -> None:
        super().__init__(reason)
        self.reason: RejectionReason = reason
        self.host = host


def read_first(
    indexes: Iterable[ReleaseIndex],
    catalog: Catalog,
    newest: int,
    *,
    until_known: bool,
    check_cancelled: Callable[[], None],
) -> tuple[IndexFacts, str | None]:
    """The facts of the first index that answers, and its server; raises IndexUnusable with the first one's reason."""
    first: IndexUnusable | None = None
    for index in indexes:
        try:
            facts = IndexReader(index, catalog, newest, check_cancelled=check_cancelled).read(until_known=until_known)
        except IndexUnusable as error:
            first = first or error
        else:
            return facts, index.host
    raise first or IndexUnusable("unreachable", None)


class IndexReader:
    """Reads the newest releases of an index: at most `newest` of each package, or as far back as the first that the
    catalog knows. `check_cancelled` raises Cancelled.
    """

    def __init__(
        self, index: ReleaseIndex, catalog: Catalog, newest: int, *, check_cancelled: Callable[[], None]
    ) -> None:
        self._index = index
        self._catalog = catalog
        self._newest = newest
        self._check_cancelled = check_cancelled
        self._cudnn = {name: int(major) for major, name in catalog.cudnn.wheel_packages.items()}
        wheels = catalog.cuda.wheels
        self._toolkit = wheels.package if wheels is not None else None
        parts = wheels.parts if wheels is not None else ()
        # Before CUDA 13 the runtime's package bears the major in its name, and the series in its number.
        runtime = next((re.escape(part.package) for part in parts if part.extra == "cudart"), r"\b\B")
        self._old_runtime = re.compile(rf"{runtime}-cu\d+")

    def read(self, *, until_known: bool) -> IndexFacts:
        """The facts; raises IndexUnusable."""
        cudnn_releases = {release.version for release in self._catalog.cudnn.releases}
        known = dict.fromkeys(self._cudnn, cudnn_releases)
        if self._toolkit is not None:
            known[self._toolkit] = {release.version for release in self._catalog.cuda.toolkits}
        releases = self._read_releases(known, until_known=until_known)
        facts = IndexFacts(
            pytorch=tuple(self._read_pytorch(until_known=until_known)),
            toolkits=tuple(map(_update, releases.get(self._toolkit or "", ()))),
            cudnn={major: releases[name] for name, major in self._cudnn.items()},
            tensorflow=_public(self._ask(["tensorflow"])[1].get("tensorflow")),
        )
        if not (facts.pytorch or facts.toolkits or any(facts.cudnn.values()) or facts.tensorflow):
            raise IndexUnusable("garbage", self._index.host)  # such as the page of a network that asks to log in
        return facts

    def _read_releases(self, known: Mapping[str, set[Version]], *, until_known: bool) -> dict[str, tuple[Version, ...]]:
        """The releases of several packages; each question asks all of them for the next older one."""
        found: dict[str, list[Version]] = {name: [] for name in known}
        waiting = list(known)
        for _ in range(self._newest):
            wanted = [f"{name}<{found[name][-1]}" if found[name] else name for name in waiting]
            state, versions = self._ask(wanted)
            if state == "absent":  # one of them has no older release
                versions = {name: version for each in wanted for name, version in self._ask([each])[1].items()}
            for name in tuple(waiting):
                version = _public(versions.get(name))
                # An index that names no older release than before has no end.
                if version is None or (found[name] and version >= found[name][-1]):
                    waiting.remove(name)
                    continue
                found[name].append(version)
                if until_known and version in known[name]:
                    waiting.remove(name)
            if not waiting:
                break
        return {name: tuple(versions) for name, versions in found.items()}

    def _read_pytorch(self, *, until_known: bool) -> Iterator[TorchRequirements]:
        releases = {release.version: release for release in self._catalog.releases}
        oldest: Version | None = None
        for _ in range(self._newest):
            older = [release for version, release in releases.items() if oldest is None or version < oldest]
            python = _usual_python((older or self._catalog.releases)[0].python)
            versions = self._ask([f"torch<{oldest}" if oldest else "torch"], python=python, dependencies=True)[1]
            text = versions.get("torch")
            version = _public(text)
            if version is None or (oldest is not None and version >= oldest):
                return
            oldest = version
            # A build with a label is not one of the general index.
            if "+" not in (text or ""):
                yield self._torch_requirements(version, python, versions)
            if until_known and version in releases:
                return

    def _torch_requirements(self, version: Version, python: str, versions: Mapping[str, str]) -> TorchRequirements:
        """What the release requires. Where an older CUDA or cuDNN would do as well, the newest is no fact about it."""
        packages = [name for name in (self._toolkit, *self._cudnn) if name in versions]
        toolkit = _public(versions.get(self._toolkit or ""))
        runtime = next((_public(text) for name, text in versions.items() if self._old_runtime.fullmatch(name)), None)
        cudnn = next((_public(versions[name]) for name in self._cudnn if name in versions), None)
        cuda = _update(toolkit) if toolkit is not None else runtime.series if runtime is not None else None
        told = TorchRequirements(version=version, python=python, cuda=cuda, cudnn=cudnn)
        build = self._catalog.build(version.text, told.variant, SYSTEM, ARCH)
        if build is not None and build.cudnn is not None and (build.cuda is not None or not told.is_update):
            return told  # it is no news
        states = {
            self._ask(
                [f"torch=={version}"], python=python, constraints=[f"{name}<{versions[name]}"], dependencies=True
            )[0]
            for name in packages
            if name is not None
        }
        return replace(told, is_exact=states == {"absent"})

    def _ask(
        self,
        requirements: Sequence[str],
        *,
        python: str | None = None,
        constraints: Sequence[str] = (),
        dependencies: bool = False,
    ) -> tuple[SourceState, dict[str, str]]:
        """An answer, "absent" included; raises IndexUnusable where there is none."""
        self._check_cancelled()
        series = python or _usual_python(self._catalog.releases[0].python)
        state, versions = self._index.resolve(
            requirements, python=series, constraints=constraints, dependencies=dependencies
        )
        if state not in ("available", "absent"):
            raise IndexUnusable(_REASONS.get(state, "garbage"), self._index.host)
        return state, versions


def _usual_python(python: Sequence[str]) -> str:
    """The middle Python of a release: for the newest, wheels of what it requires may be missing for a while."""
    return python[len(python) // 2]


def _public(text: str | None) -> Version | None:
    return Version.parse((text or "").partition("+")[0] or None)


def _update(toolkit: Version) -> Version:
    """A toolkit's version as the catalog writes it: "13.0.3.0" of the index is 13.0.3."""
    return Version(".".join(toolkit.text.split(".")[:3])) if len(toolkit.parts) <= 3 else toolkit
