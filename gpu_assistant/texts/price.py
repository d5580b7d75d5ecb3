"""How much a plan or a step of it fetches, in the same words wherever it is told."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.message import Value
from ..core.price import PlanCost, step_cost
from .sentences import Translator


def download_text(cost: PlanCost, texts: Translator) -> str | None:
    """A plan's download: "2.6 GB", "about 2.6 GB", "at least 2.6 GB"; None where nothing of it is known."""
    if not cost.bytes and not cost.is_exact:
        return None
    if not cost.bytes:
        return texts.translate("price.none")
    return _size_text(cost.bytes, texts, is_estimate=cost.measured_release is not None, is_lower_bound=bool(cost.unknown_parts))


def unknown_parts_text(cost: PlanCost, texts: Translator) -> str:
    """What is not in that, because nobody tells how large it is; nothing where all is."""
    separator = "、" if texts.language == "zh_CN" else ", "
    return separator.join(texts.translate(f"price.part.{part}") for part in cost.unknown_parts)


def disk_text(cost: PlanCost, texts: Translator) -> str | None:
    """What stays on the disk; None where nothing of it is known."""
    if cost.disk_bytes is None:
        return None
    is_estimate = cost.disk_estimated and not cost.disk_incomplete
    return _size_text(cost.disk_bytes, texts, is_estimate=is_estimate, is_lower_bound=cost.disk_estimated)


def step_download_text(code: str, count: int | None, data: Mapping[str, Value], texts: Translator) -> str:
    """A step's download; nothing where it has none, or nothing of it is known."""
    cost = step_cost(code, count, data)
    if not cost.is_known:
        return ""
    is_lower_bound = cost.unknown_part is not None
    return _size_text(cost.bytes, texts, is_estimate=cost.measured_release is not None and not is_lower_bound, is_lower_bound=is_lower_bound)


def duration_text(minutes: float, texts: Translator, *, at_least: bool) -> str:
    """How long something takes: "7 minutes", "at least 7 minutes"."""
    return texts.translate("price.time-at-least" if at_least else "price.time", {"work_seconds": 60 * minutes})


def _size_text(count: int, texts: Translator, *, is_estimate: bool, is_lower_bound: bool) -> str:
    code = "price.about" if is_estimate else "price.at-least" if is_lower_bound else "price.exact"
    return texts.translate(code, {"bytes": count})
