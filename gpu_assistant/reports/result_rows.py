"""All figures of a benchmark as the rows of a table, with what was left out and why."""

from __future__ import annotations

from ..bench.measurements import skip_details
from ..core.results import Benchmark
from ..core.types import short_device_name
from ..texts import current
from ..texts.benchmark import size_text
from ..texts.current import translate
from . import messages


def _size_text(name: str, sides: tuple[int, ...], batch: int | None = None) -> str:
    """Bytes of a copy, tokens, or sides of a matrix or image; with the batch size."""
    text = size_text(name, sides, current.texts())
    if batch is None:
        return text
    return translate("ResultsTable", "{size}, batch {batch}").format(size=text, batch=batch)


def table_rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    """Each measurement: name, device, size, median, quartiles, runs. Then what was left out, with the reason in place
    of the last three cells.
    """
    rows: list[tuple[str, ...]] = []
    for result in benchmark.results:
        low, high = (messages.value_with_unit(each, result.unit) for each in (result.q1, result.q3))
        unit = messages.unit_label(messages.readable_value(result.q3, result.unit)[1])
        low = low.removesuffix(f" {unit}")  # where both have the same unit, name it once
        extrapolated = result.extrapolated
        rows.append(
            (
                messages.result_name(result),
                messages.result_device(result),
                _size_text(result.id, result.size, result.batch),
                ("≈ " if extrapolated else "") + messages.marked_median(result, benchmark.results),
                f"{low} … {high}",
                translate("ResultsTable", "estimated") if extrapolated else str(result.runs),
            )
        )
    texts = current.texts()
    for omission in benchmark.left_out:
        name = messages.workload_label(omission.id, omission.dtype, omission.device)
        reason = messages.omission_reason(omission.why)
        if (message := skip_details(omission)) is not None:
            reason = texts.translate(*message)  # of this measurement; the validity card has the reason for all
            reason = reason[:1].upper() + reason[1:]
        rows.append((name, short_device_name(omission.device), _size_text(omission.id, omission.size), reason))
    return rows
