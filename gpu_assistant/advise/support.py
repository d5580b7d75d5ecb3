"""What works, and yet deserves a word: a driver with a known hole, a system without further fixes, a small card."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.records.drivers import SecurityFix
from ..core.machine import OperatingSystem
from ..core.recommendation import DriverAdvice, RecommendationWarning
from ..core.types import Value
from .candidates import TargetSystem
from .drivers import DriverState


def support_warnings(target: TargetSystem, advice: DriverAdvice) -> Iterator[RecommendationWarning]:
    """For a machine whose NVIDIA GPU computes on `advice`'s driver."""
    yield from _security_warnings(target, advice)
    card, small = target.gpu, target.catalog.gpus.small_memory
    if card is not None and small is not None and 0 < card.memory_bytes <= small.bytes:
        data: dict[str, Value] = {"gpu": card.name, "memory_bytes": card.memory_bytes}
        yield RecommendationWarning(code="memory-small", data=data)


def _security_warnings(target: TargetSystem, advice: DriverAdvice) -> Iterator[RecommendationWarning]:
    """A driver that stays, although a bulletin of NVIDIA's names a newer one of its branch. The host's is not ours."""
    state = target.driver_state
    if state is None or state.host is not None or advice.action != "keep":
        return
    for bulletin in target.catalog.drivers.security:
        fix = next((row for row in bulletin.fixes if _is_affected(target, state, row)), None)
        if fix is not None:
            url = target.catalog.source_url(target.catalog.drivers, bulletin.source)
            data = {"installed": (state.installed or "").lstrip("@"), "fixed": fix.fixed.text, "id": bulletin.id}
            yield RecommendationWarning(code="driver-insecure", data={**data, "url": url})
            return


def _is_affected(target: TargetSystem, state: DriverState, fix: SecurityFix) -> bool:
    version, card = state.installed_version, target.gpu
    if version is None or card is None or state.system != fix.system or card.segment not in fix.segments:
        return False
    limit = fix.below_capability
    if limit is not None and (card.capability is None or card.capability >= limit):
        return False
    return fix.branch <= version.major < fix.next_branch and version < fix.fixed


def system_end_warnings(target: TargetSystem) -> Iterator[RecommendationWarning]:
    """A system that is no longer maintained, or for which drivers are no longer made."""
    card = target.gpu
    for end in target.catalog.drivers.system_ends:
        if end.segments and (card is None or card.segment not in end.segments):
            continue
        if _is_system(target.machine.os, end.system, end.distribution, end.release, end.below_build):
            name = (target.machine.os.name or end.name).lstrip("@")
            yield RecommendationWarning(code=f"system-ended-{end.what}", data={"system": name, "date": end.month})
            return


def _is_system(
    system: OperatingSystem, name: str, distribution: str | None, release: str | None, below_build: int | None
) -> bool:
    if system.system != name or system.wsl:
        return False
    if distribution is not None:
        return (system.distro or "").casefold() == distribution and system.distro_version == release
    is_server = "server" in (system.name or "").casefold()
    return below_build is not None and system.build is not None and system.build < below_build and not is_server
