"""The frame of a report: one HTML file for any browser, that loads nothing and shows both themes. Names are escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..core.paths import resources_dir
from ..core.theme import load_theme_file
from ..texts import current

STYLE_FILE = "report/style.css"
COLOUR_CSS = ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
CSS_TOKENS = ("window", "card", "line", "text", "soft", "accent", "accent_text", "ok", "warn", "error", "s5")
# By this a later run knows that a file is an earlier report, which it may replace.
GENERATOR = '<meta name="generator" content="GPU Assistant">'
DOCUMENT_START = "<!doctype html>\n<html lang="
MAX_HEAD_BYTES = 200


def render_page(title: str, parts: Iterable[str]) -> str:
    """The whole file in the current language; `parts` are paragraphs and sections, "" for one that is left out."""
    code = current.texts().language.replace("_", "-")
    colours = COLOUR_CSS.format(light=_css_variables("light"), dark=_css_variables("dark"))
    style = colours + (resources_dir() / STYLE_FILE).read_text(encoding="utf-8")
    body = "\n".join(part for part in (f"<h1>{escape(title)}</h1>", *parts) if part)
    return (
        f'{DOCUMENT_START}"{code}"><head><meta charset="utf-8">{GENERATOR}'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{style}</style></head><body>\n{body}\n</body></html>\n"
    )


def is_report(data: bytes) -> bool:
    """Whether a file's content is a report of this program."""
    head = data[:MAX_HEAD_BYTES]
    return head.startswith(DOCUMENT_START.encode()) and GENERATOR.encode() in head


def section_html(title: str, body: str) -> str:
    """A card with its heading."""
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def table_html(rows: Iterable[tuple[str, ...]], headers: tuple[str, ...] = ()) -> str:
    """A table; in a row with fewer cells than `headers`, the last cell spans the rest."""
    header = "<tr>" + "".join(f"<th>{escape(each)}</th>" for each in headers) + "</tr>" if headers else ""
    body = "".join(f"<tr>{_cells_html(row, len(headers))}</tr>" for row in rows)
    return f"<table>{header}{body}</table>"


def _cells_html(row: tuple[str, ...], columns: int) -> str:
    colspan = columns - len(row) + 1
    last = f'<td colspan="{colspan}">' if colspan > 1 else "<td>"
    return "".join(f"<td>{escape(cell)}</td>" for cell in row[:-1]) + f"{last}{escape(row[-1])}</td>"


def paragraph_html(text: str) -> str:
    """A line in the softer colour; "" for none."""
    return f'<p class="soft">{escape(text)}</p>' if text else ""


def _css_variables(theme: str) -> str:
    colours = load_theme_file().themes[theme].colours()
    return " ".join(f"--{token}: {colours[token]};" for token in CSS_TOKENS)
