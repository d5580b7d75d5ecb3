"""`gpu-assistant catalog show|update|check`: the compatibility data in use."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import CallError
from .jobs import run_job
from .output import Output

if TYPE_CHECKING:
    from ..app import App
    from ..catalog.subject import Subject
    from ..refresh.job import SubjectNews


def catalog(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the data, refresh it, or check a folder of it."""
    if arguments.action == "check":
        return _check(app, arguments.what, output)
    if arguments.action == "update":
        if arguments.what is not None:
            raise CallError("catalog-update-whole", what=arguments.what)
        return _update(app, output)
    return _show(app, arguments.what, output)


def _check(app: App, folder: str | None, output: Output) -> int:
    from ..catalog.check import check

    place = Path(folder) if folder is not None else app.catalog.folder
    if not place.is_dir():
        raise CallError("catalog-folder", path=str(place))
    found = check(place, today=datetime.now(UTC).date())
    if output.json:
        output.value({"schema": "gpu-assistant/catalog-check/1", "folder": str(place), "findings": found})
    else:
        for one in found:
            spot = " ".join(filter(None, (f"{one.file}.json", one.rule, one.where)))
            why = output.texts.say(f"catalog.rule.{one.rule}") if one.fault is None else output.texts.say(one.fault[1:])
            shown = "" if one.fault is not None else one.detail
            output.line(output.say("catalog-finding", place=spot, why=why, shown=shown).rstrip())
        code = ("catalog-whole", "catalog-wrong-one")[len(found)] if len(found) < 2 else "catalog-wrong"
        output.note(output.say(code, path=str(place), count=len(found)))
    return 1 if found else 0


def _update(app: App, output: Output) -> int:
    heard: list[SubjectNews] = []

    def news(one: SubjectNews) -> None:
        heard.append(one)
        if not output.json:
            output.line(_spoken(one, output))

    try:
        run_job(app.refresh_catalog(), on_news=news)
    finally:
        # Also where nobody answered: what is in use now, and how old that is.
        if output.json:
            output.value(_state_after(app, heard))
    return 0


def _state_after(app: App, heard: list[SubjectNews]) -> dict[str, Any]:
    in_use = app.reloaded_catalog()
    return {
        "schema": "gpu-assistant/catalog-update/1",
        "day": datetime.now(UTC).date().isoformat(),
        "folder": str(app.data.catalog / "current"),
        "as_of": in_use.date,
        "days": age(in_use.date),
        "subjects": heard,
    }


def _spoken(one: SubjectNews, output: Output) -> str:
    why = output.texts.say(f"catalog.why.{one.why}") if one.why is not None else None
    return output.say(f"catalog-news.{one.state}", subject=one.subject, count=one.added, host=one.host, why=why)


def _show(app: App, wanted: str | None, output: Output) -> int:
    from ..catalog.files import FILES, subjects

    if wanted is not None and wanted not in FILES:
        raise CallError("catalog-subject", name=wanted, known=", ".join(FILES))
    found = subjects(app.catalog, [wanted] if wanted is not None else list(FILES))
    if output.json:
        output.value(_all(app, found))
        return 0
    rows = []
    for name, subject in found.items():
        days, count = age(subject.as_of), _count(subject)
        place = output.say("catalog-place.refreshed" if _refreshed(app, name) else "catalog-place.built-in")
        rows.append((name, output.say("catalog-row", date=subject.as_of, days=days, count=count, place=place)))
    output.table(rows)
    for name, subject in found.items():
        output.line(output.say("catalog-sources", subject=name))
        output.table(
            [(f"  {key}", "  ".join(filter(None, (one.what, one.url)))) for key, one in subject.sources.items()]
        )
    output.line(output.say("catalog-folder", path=str(app.catalog.folder)))
    if app.catalog.refreshed is not None and app.catalog.refreshed.used:
        output.line(output.say("catalog-refreshed", path=str(app.catalog.refreshed.folder)))
    for ignored in app.catalog.refreshed.ignored if app.catalog.refreshed is not None else ():
        output.note(output.texts.say(f"catalog.ignored.{ignored.why}", {"file": ignored.file}))
    return 0


def _all(app: App, found: dict[str, Subject]) -> dict[str, Any]:
    refreshed = app.catalog.refreshed
    return {
        "schema": "gpu-assistant/catalog/1",
        "folder": str(app.catalog.folder),
        "refreshed": str(refreshed.folder) if refreshed is not None and refreshed.used else None,
        "ignored": refreshed.ignored if refreshed is not None else [],
        "state": {
            name: {"as_of": subject.as_of, "days": age(subject.as_of), "refreshed": _refreshed(app, name)}
            for name, subject in found.items()
        },
        "subjects": found,
    }


def _refreshed(app: App, name: str) -> bool:
    return app.catalog.refreshed is not None and f"{name}.json" in app.catalog.refreshed.used


def age(day: str) -> int:
    """How many days ago a day ("2026-11-21") was."""
    from ..catalog.subject import days_since

    return days_since(day, datetime.now(UTC).date())


def _count(subject: Subject) -> int:
    """How many records a file holds: the entries of its lists."""
    return sum(len(value) for field in subject.__struct_fields__ if isinstance(value := getattr(subject, field), tuple))
