"""Every file of the lock onto this disk, each one checked."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import structs

from ...core.errors import AppError
from ...core.names import Value
from ...core.plan import Now, Plan, PlanFile, Step
from ...core.price import share
from ...fetch.wanted import Wanted
from ..draft import UNKNOWN_SIZE, Draft
from ..fetching import fetch
from ..outlook import environment_now
from ..place import Ground
from ..work import Outcome, Work
from .kind import Kind, refuse_fields

# What asking the sources again may mend; a broken line is not among it.
OUTDATED = ("hash-mismatch", "source-changed", "source-refused", "local-file-missing", "local-file-broken")


class Download(Kind):
    """What is fetched stands in the lock; nothing of it comes from the plan."""

    name: ClassVar[str] = "download"
    by_figures: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (
        "download",
        "download-about",
        "download-some",
        "download-torch",
        "download-rest",
        "download-bundle",
        "download-all",
        "download-none",
        "download-here",
    )
    needs: ClassVar[tuple[str, ...]] = ("resolve",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step for all packages."""
        sizes = draft.sizes
        # What the catalog measured is not for who brings wheels of his own.
        count = sizes.download_bytes if draft.local is None or draft.told is not None else None
        data: dict[str, Value] = {"release": draft.release, "bytes": UNKNOWN_SIZE if count is None else count}
        if draft.paces.line_mbits is not None:
            data["mbits"] = draft.paces.line_mbits
        if draft.bundle is not None:
            code, count, data["path"] = "download-bundle", 0, str(draft.bundle)
        elif count == 0 and sizes.whole:
            code = "download-none"
        elif count is not None and sizes.whole:
            code = "download-all" if "mbits" in data else "download"
        elif count is not None:
            # PyTorch's own wheel; what it needs besides nobody measured.
            code, data["lacks"] = "download", "dependencies"
        else:
            code, more = _partly(draft)
            data |= more
        known = share(code, count, data)
        return (
            Step(
                id="download",
                kind=self.name,
                code=code,
                needs=draft.ids("resolve"),
                data=data,
                bytes=count,
                disk_bytes=0,
                minutes=draft.paces.line_minutes(known.bytes if known.known or count == 0 else None),
                minutes_least=known.lacks in ("tensorflow", "files"),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        refuse_fields(step)

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """An environment that stands needs no files."""
        now = environment_now(plan, ground)
        return Now(code="now.nothing") if now is not None and now.code == "now.stands" else None

    def spared(self, step: Step) -> Step:
        """What it would have fetched is told of no more."""
        data = {name: value for name, value in step.data.items() if name in ("release", "mbits")}
        return structs.replace(super().spared(step), code="download-here", data=data)

    def done(self, step: Step, work: Work) -> Outcome | None:  # noqa: ARG002
        """An environment that stands, or is built, needs no files."""
        return Outcome(code="progress.nothing-to-fetch") if work.standing or work.built else None

    def run(self, step: Step, work: Work) -> Outcome:  # noqa: ARG002
        """Raises what fetching raises."""
        wanted = [_wanted(work.data.files, package.file) for package in work.lock.packages]
        try:
            work.files = fetch(work, wanted)
        except AppError as error:
            if error.code in OUTDATED:
                work.forget_lock()
            raise
        return Outcome()


def _partly(draft: Draft) -> tuple[str, dict[str, Value]]:
    """The text for a size that is not known, and what it says: the largest part of it that is known."""
    local, near, alone = draft.local, draft.near_sizes.download_bytes, draft.torch_sizes.download_bytes
    least = draft.told.least if draft.told is not None else 0
    if local is None and near is not None and near > least:
        return "download-about", {"bytes": near, "measured": _measured(draft)}
    if local is None and alone is not None and alone > least:
        return "download-torch", {"bytes": alone, "measured": _measured(draft), "lacks": "tensorflow"}
    if least:
        return "download-some", {"bytes": least, "lacks": "files"}
    return ("download", {}) if local is None else ("download-rest", {"bytes": local.bytes})


def _measured(draft: Draft) -> str:
    """Which release was measured: "PyTorch 2.14.0", with its build where that is another one."""
    near, torch = draft.torch_sizes, draft.recommendation.pytorch
    other = torch is not None and near.variant != torch.variant
    return f"PyTorch {near.release}+{near.variant}" if other else f"PyTorch {near.release}"


def _wanted(folder: Path, file: PlanFile) -> Wanted:
    """By hash, because two indexes may give different files the same name."""
    place = folder / (file.sha256 or "")[:16] / file.name
    return Wanted(url=file.url, path=place, sha256=file.sha256, bytes=file.bytes)
