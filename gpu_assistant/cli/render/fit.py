"""What fits into a card's memory, as text: a table for each kind of models, and how far the figures may be wrong."""

from __future__ import annotations

from itertools import groupby

from ...bench.memory_fit import practical_batch
from ...bench.model_memory import has_room, rounded_down
from ...core.results import MemoryFits, ModelFit, ModelFits
from ...texts.format import format_memory, format_memory_column
from ..output import Output


def render_fits(fits: ModelFits, output: Output) -> None:
    """The card, the models by kind, the stated error, Windows' silent way out, and what was measured."""
    texts = output.texts
    if fits.memory is None or fits.usable is None:
        output.write_line(texts.translate("fit.no-card"))
    else:
        data = {
            "device": fits.device,
            "memory": format_memory(fits.memory),
            "usable": format_memory_column(fits.usable),
        }
        output.write_line(texts.translate("fit.card", data))
    for kind, group in groupby(fits.models, key=lambda each: each.kind):
        models = list(group)
        output.write_line()
        items = max(each.items for each in models)
        output.write_line(texts.translate(f"fit.title.{kind}", {"items": f"{items:,}"} if kind != "image" else {}))
        output.write_table([(model[0].name, _model_text(model, output)) for model in _by_model(models)])
    output.write_line()
    errors = {each.kind: round(100 * each.error) for each in fits.models}
    other = max((value for kind, value in errors.items() if kind != "language"), default=None)
    output.write_line(
        texts.translate("fit.error", {"date": fits.as_of, "language": errors.get("language"), "other": other})
    )
    if fits.spills and any(each.verdict in ("tight", "no") for each in fits.models):
        output.write_line(texts.translate("fit.spills"))
        output.write_line(texts.translate("fit.spills.setting"))
    if fits.measured is not None:
        _render_measured(fits.measured, output)


def _by_model(models: list[ModelFit]) -> list[list[ModelFit]]:
    return [list(group) for _, group in groupby(models, key=lambda each: each.id)]


def _model_text(formats: list[ModelFit], output: Output) -> str:
    """A line for each format: what it needs, whether it fits, and how much."""
    return "\n".join(_format_text(each, output) for each in formats)


def _format_text(fit: ModelFit, output: Output) -> str:
    texts = output.texts
    text = texts.translate(
        "fit.cell",
        {
            "format": texts.translate(f"fit.format.{fit.format}"),
            "needed": format_memory_column(fit.needed),
            "verdict": texts.translate(f"fit.verdict.{fit.verdict}"),
        },
    )
    if fit.largest is None or not has_room(fit):
        return text
    return f"{text}, " + texts.translate(f"fit.largest.{fit.item}", {"size": f"{rounded_down(fit.largest or 0):,}"})


def _render_measured(measured: MemoryFits, output: Output) -> None:
    texts = output.texts
    output.write_line()
    batch = measured.fits[0].batch if measured.fits else 0
    output.write_line(texts.translate("fit.measured", {"torch": measured.torch, "batch": batch}))
    rows = []
    for fit in measured.fits:
        largest = practical_batch(fit)
        text = format_memory(fit.peak)
        if largest is not None:
            text += ", " + texts.translate("fit.largest.example", {"size": f"{largest:,}"})
        rows.append((texts.translate(f"fit.way.{fit.variant}"), text))
    output.write_table(rows)
