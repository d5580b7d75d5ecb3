"""A result as a page for any browser: all figures, how they came about, and no name, number or folder of this computer.

What it says is taken field by field from what is measured; samples' names and paths have no way in.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from PySide6.QtCore import QCoreApplication

from ...bench import summary
from ...core.paths import resources
from ...core.results import Benchmark, BenchResult
from ...texts.format import memory
from ...texts.verdict import verdict
from .. import language
from ..theme.tokens import look
from . import along, moments, scores
from .every import rows_of
from .fairness import fairness
from .meanings import meaning, short_name
from .past_card import NAMES, change_words, measured
from .picture import about
from .right_card import BELOW, RangeSource, about_range, ranged

translate = QCoreApplication.translate

TRAININGS = frozenset({"resnet50", "bert-base"})
STYLE = "report/style.css"
COLOURS = ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
TOKENS = ("window", "card", "line", "text", "soft", "accent", "accent_text", "s5")


def html(benchmark: Benchmark, kept: tuple[Benchmark, ...] = (), source: RangeSource | None = None) -> str:
    """The whole page in the language that is on; it loads nothing from anywhere.

    `kept` are the results of before, oldest first; `source` is where the expected ranges are from.
    """
    title = _title(benchmark)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _line(" · ".join([*about(benchmark), moments.dated(benchmark)])),
        _headline(benchmark),
        _bars(benchmark, kept),
        _right(benchmark, source),
        _section(
            translate("Report", "Was it a fair test?"),
            _table([(line.text, line.value or line.below) for line in fairness(benchmark, kept)]),
        ),
        _along(benchmark),
        _past(benchmark, kept),
        _section(
            translate("Report", "All figures"),
            _table(rows_of(benchmark), heads=_heads()) + _line(language.texts().say("bench.units")),
        ),
        _section(translate("Report", "Devices and versions"), _table(_about_rows(benchmark))),
        _line(
            translate(
                "Report", "Measured with GPU Assistant. Names of people, serial numbers and folders are not in here."
            )
        ),
    ]
    code = language.texts().language.replace("_", "-")
    colours = COLOURS.format(light=_variables("light"), dark=_variables("dark"))
    style = colours + (resources() / STYLE).read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="{code}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{style}</style></head><body>\n" + "\n".join(part for part in parts if part) + "\n</body></html>\n"
    )


def _title(benchmark: Benchmark) -> str:
    """What was measured at all: without a card, or without a training, it says no more than that."""
    best = scores.reference(benchmark)
    if best is None or best.device == "cpu":
        return translate("Report", "How fast this CPU computes")
    if any(result.id in TRAININGS for result in benchmark.results):
        return translate("Report", "How fast this computer trains")
    return translate("Report", "How fast this computer computes")


def _headline(benchmark: Benchmark) -> str:
    head = scores.headline(benchmark)
    if head is None:
        return ""
    said = f'<div class="figure">{escape(head.figure)}</div><div>{escape(head.text)}</div>'
    return f"<section>{said}{_line(head.detail)}{_line(head.missing)}{_line(scores.unmeasured(benchmark))}</section>"


def _bars(benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> str:
    rows, before = [], summary.before(benchmark, kept)
    shown = summary.pairs(benchmark, before)
    most = summary.scales(shown)
    for pair in shown:
        alone = len(pair.results) == 1  # a length says nothing where there is nothing beside it
        bars = "".join(
            ("" if alone else _bar(each, pair, most[each.unit]))
            + f"<small>{escape(_where(each, pair, before))} {escape(scores.marked(each))}</small>"
            for each in pair.results
        )
        ratio = scores.ratio_words(pair.ratio) if pair.ratio is not None else ""
        name = f"{escape(short_name(pair))}<br><small>{escape(meaning(pair, benchmark))}</small>"
        rows.append(f'<tr><td style="width:34%">{name}</td><td>{bars}</td><td>{ratio}</td></tr>')
    compared = any(pair.gpus for pair in shown)
    title = translate("Report", "GPU beside CPU") if compared else translate("Report", "Measured on the CPU")
    return _section(title, f"<table>{''.join(rows)}</table>") if rows else ""


def _bar(result: BenchResult, pair: summary.Pair, most: float) -> str:
    kind = "bar cpu" if scores.colour(result, pair) == "s5" else "bar"
    return f'<div class="{kind}" style="width:{100 * result.median / most:.1f}%"></div>'


def _where(result: BenchResult, pair: summary.Pair, before: Benchmark | None) -> str:
    """A bar's device, or when it was measured; of a processor its format too, which may be another than the card's."""
    if result is pair.before:
        return moments.of_before(before)
    if result.processes > 1:
        return scores.together(result)
    return scores.cpu_in(result.dtype) if result.device == "cpu" else scores.device_name(result)


def _right(benchmark: Benchmark, source: RangeSource | None) -> str:
    rows = []
    for result, usual in ranged(benchmark):
        low, high = (scores.amount(each, result.unit) for each in usual)
        said = translate("Report", "usual: {low} to {high}")
        if result.median > usual[1]:
            said = translate("Report", "above the usual range: {low} to {high}")
        rows.append((scores.name(result), scores.value(result), said.format(low=low, high=high)))
    if not rows:
        return ""
    texts = language.texts()
    causes = benchmark.causes if benchmark.verdict == BELOW else ()
    return _section(
        translate("Report", "Is that right for this card?"),
        f"<p>{escape(verdict(benchmark, texts))}</p>{_table(rows)}"
        + "".join(f"<p>{escape(texts.say(each))}</p>" for each in causes)
        + _source(source),
    )


def _source(source: RangeSource | None) -> str:
    """Where the ranges are from: a link to read, which loads nothing by itself."""
    if source is None:
        return ""
    said = _line(about_range(source))
    if source.url is None:
        return said
    where = escape(translate("Report", "Where the figures are from:"))
    url = escape(source.url)
    return f'{said}<p class="soft">{where} <a rel="noreferrer" href="{url}">{url}</a></p>'


def _along(benchmark: Benchmark) -> str:
    cards = summary.watched(benchmark)
    if not cards:
        return ""
    several = len(cards) > 1
    told = [(along.name(card, cards), *(value for _, value in along.rows(card))) for card in cards]
    heads = ("", *(said for said, _ in along.rows(cards[0])))
    rows = list(zip(heads, *told, strict=True))
    title = (
        translate("Report", "What the cards did meanwhile")
        if several
        else translate("Report", "What the card did meanwhile")
    )
    return _section(title, _table(rows[1:], heads=rows[0]))


def _past(benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> str:
    """The same measurement in the benchmarks of before, and what changed since the last one."""
    past = scores.history(benchmark, kept)
    if len(past) < 2:
        return ""
    whens = moments.each([each for each, _ in past], whole=True)
    rows = [(when, scores.marked(result), _versions(each)) for when, (each, result) in zip(whens, past, strict=True)]
    heads = (translate("Report", "When"), translate("Report", "Median"), translate("Report", "Versions"))
    return _section(
        translate("Report", "Before and now"),
        _line(measured(past[-1][1]))
        + _table(rows, heads=heads)
        + f"<p>{escape(change_words(past[-2], past[-1], whens[-2]))}</p>",
    )


def _versions(benchmark: Benchmark) -> str:
    known = ((_version_name(key), benchmark.versions.get(key)) for key in NAMES)
    return " · ".join(f"{name} {version}" for name, version in known if version is not None)


def _about_rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    rows = []
    for device in benchmark.devices:
        memories = memory(device.memory_bytes) if device.memory_bytes is not None else ""
        rows.append((scores.device_label(device.id), device.name or device.id, memories))
    return [*rows, *((_version_name(key), version) for key, version in benchmark.versions.items())]


def _version_name(key: str) -> str:
    return NAMES.get(key, key) or translate("PastCard", "driver")


def _heads() -> tuple[str, ...]:
    return (
        translate("Report", "What"),
        translate("Report", "Where"),
        translate("Report", "Size"),
        translate("Report", "Median"),
        translate("Report", "Middle half"),
        translate("Report", "Runs"),
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _table(rows: Iterable[tuple[str, ...]], heads: tuple[str, ...] = ()) -> str:
    head = "<tr>" + "".join(f"<th>{escape(each)}</th>" for each in heads) + "</tr>" if heads else ""
    body = "".join(f"<tr>{_cells(row, len(heads))}</tr>" for row in rows)
    return f"<table>{head}{body}</table>"


def _cells(row: tuple[str, ...], columns: int) -> str:
    """A row that is shorter than the head has its last cell as wide as what is left."""
    wide = columns - len(row) + 1
    last = f'<td colspan="{wide}">' if wide > 1 else "<td>"
    return "".join(f"<td>{escape(cell)}</td>" for cell in row[:-1]) + f"{last}{escape(row[-1])}</td>"


def _line(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>' if text else ""


def _variables(theme: str) -> str:
    colours = look().themes[theme].colours()
    return " ".join(f"--{token}: {colours[token]};" for token in TOKENS)
