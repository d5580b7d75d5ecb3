"""Parallel training: the same training step in several processes of the environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.results import BenchResult, DType
from ..system.processes import run_json_lines
from .child_protocol import CHILD_PROGRAM, ChildMessage, ChildMessageCollector

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..system.base import System


QUICK_LIMIT_S, FULL_LIMIT_S = 90.0, 300.0
MODELS = ("resnet50", "bert-base")


def parallel_models(*, full: bool) -> tuple[str, ...]:
    """The models that all GPUs train together."""
    return MODELS if full else MODELS[:1]


def parallel_limit_s(*, full: bool) -> float:
    """The time limit of one model, in seconds."""
    return FULL_LIMIT_S if full else QUICK_LIMIT_S


def max_total_s(*, full: bool) -> float:
    """The time limit of all models, in seconds."""
    return len(parallel_models(full=full)) * parallel_limit_s(full=full)


def measure_parallel(
    system: System,
    interpreter: Path,
    context: JobContext[Any],
    *,
    processes: int,
    on_cpu: bool = False,
    model: str = MODELS[0],
    dtypes: Sequence[DType] = ("float32",),
    limit_s: float = FULL_LIMIT_S,
) -> BenchResult | None:
    """Train a model in `processes` processes, each with a GPU of its own or a share of the cores.

    `dtypes` are the formats of the processes, in the order of the GPUs; the last one is that of all further ones.

    Returns None where that fails, with the reason in the log. Raises Cancelled.
    """
    collector = ChildMessageCollector(lambda _: None, context.log)
    cores = system.cpu().cores
    argv: list[str | Path] = [interpreter, CHILD_PROGRAM, "--together", model, "--processes", str(processes)]
    argv += ["--device", "cpu" if on_cpu else "cuda:0", "--dtype", ",".join(dtypes)]
    argv += ["--cores", str(cores)] if cores else []
    try:
        run_json_lines(
            system, argv, ChildMessage, collector.receive, timeout=limit_s, cancel=context.cancel, log=context.log
        )
    except Cancelled:
        raise
    except AppError as error:
        context.log(f"{error.code}: {model}, {processes} processes")
    if collector.broken is not None:
        context.log(f"{collector.broken}: {model}, {processes} processes")
    return collector.results[-1] if collector.results else None
