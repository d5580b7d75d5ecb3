"""Which files exactly: the lock, from an earlier run or from the first source that has everything."""

from __future__ import annotations

from ...core.errors import AppError
from ...core.plan import Step
from ..occupied import ours
from ..resolve import Resolver
from ..untrusted import check_file
from ..wish import wish
from ..work import Outcome, Work


def run(step: Step, work: Work) -> Outcome:  # noqa: ARG001 - every kind has this shape
    """Raises AppError: release-unavailable, no-source, environment-differs."""
    torch = work.torch
    serves = work.catalog.default_variant(torch.version, work.system.name) == torch.variant
    asked = wish(torch, python=work.python, folder=work.plan.wheelhouse, serves_variant=serves)
    resolver = Resolver(asked, work.uv, work.data, work.interpreter)
    work.forget_lock = resolver.forget
    earlier = resolver.earlier()
    work.lock = earlier or resolver.resolve()
    for package in work.lock.packages:
        check_file(package.file)
    standing = ours(work.environment, work.data)
    if standing is not None and standing.lock != work.lock.identity:
        raise AppError("environment-differs", path=str(work.environment))
    work.standing = standing is not None
    return Outcome(
        skipped=earlier is not None,
        code="progress.resolved",
        data={"count": len(work.lock.packages), "torch": work.lock.version("torch")},
    )
