"""`gpu-assistant catalog show|update|check`: the compatibility data in use."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError
from .jobs import run_job
from .output import Output

if TYPE_CHECKING:
    from ..app import App
    from ..catalog.records.base import CatalogFile
    from ..catalog.validation import CatalogIssue
    from ..refresh.index_check import FactComparison, IndexReport
    from ..refresh.job import SubjectUpdate


def run_catalog(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the data, refresh it, or validate a folder of it; returns 1 if the validation finds faults."""
    if arguments.action == "check":
        return _check_catalog(app, arguments.what, output, against_index=arguments.against_index)
    if arguments.against_index:
        raise UsageError("catalog-against-index")
    if arguments.action == "update":
        if arguments.what is not None:
            raise UsageError("catalog-update-whole", what=arguments.what)
        return _update_catalog(app, output)
    return _show_catalog(app, arguments.what, output)


def _check_catalog(app: App, folder: str | None, output: Output, *, against_index: bool) -> int:
    from ..catalog.store import load_catalog
    from ..catalog.validation import validate_catalog

    catalog_folder = Path(folder) if folder is not None else app.catalog.folder
    if not catalog_folder.is_dir():
        raise UsageError("catalog-folder", path=str(catalog_folder))
    findings = validate_catalog(catalog_folder, today=datetime.now(UTC).date())
    document: dict[str, Any] = {
        "schema": "gpu-assistant/catalog-check/1",
        "folder": str(catalog_folder),
        "findings": findings,
    }
    if not output.json:
        _show_findings(findings, catalog_folder, output)
    report = None
    try:
        # Facts of a file with a fault cannot be compared.
        if against_index and not findings:
            catalog = app.catalog if folder is None else load_catalog(catalog_folder)
            output.write_note(output.translate("catalog-index-asked"))
            report = run_job(app.check_catalog_against_index(catalog))
    finally:
        if output.json:
            output.write_json({**document, "index": report} if against_index else document)
    if report is not None and not output.json:
        _show_facts(report, output)
    return 1 if findings or (report is not None and any(f.state == "different" for f in report.facts)) else 0


def _show_findings(findings: tuple[CatalogIssue, ...], folder: Path, output: Output) -> None:
    for finding in findings:
        location = " ".join(filter(None, (f"{finding.file}.json", finding.rule, finding.where)))
        explanation = (
            output.texts.translate(f"catalog.rule.{finding.rule}")
            if finding.fault is None
            else output.texts.translate(finding.fault[1:])
        )
        detail = "" if finding.fault is not None else finding.detail
        output.write_line(output.translate("catalog-finding", place=location, why=explanation, shown=detail).rstrip())
    code = ("catalog-whole", "catalog-wrong-one")[len(findings)] if len(findings) < 2 else "catalog-wrong"
    output.write_note(output.translate(code, path=str(folder), count=len(findings)))


def _show_facts(report: IndexReport, output: Output) -> None:
    """What differs first, then what is not known here, then what the index confirms."""
    for state in ("different", "unknown", "confirmed"):
        facts = [fact for fact in report.facts if fact.state == state]
        if not facts:
            continue
        output.write_line(output.translate(f"catalog-index.{state}", count=len(facts)))
        for fact in facts:
            about = output.translate(
                f"catalog-fact.{fact.subject}-{fact.fact}", version=fact.version, cuda=fact.cuda_major
            )
            code = _comparison_code(fact)
            output.write_line(
                "  " + output.translate(f"catalog-said.{code}", about=about, catalog=fact.catalog, index=fact.index)
            )
    output.write_note(output.translate("catalog-index-host", host=_index_name(report.host)))


def _comparison_code(fact: FactComparison) -> str:
    if fact.index is None:
        return "absent"
    if fact.state == "different":
        return "different" if fact.catalog is not None else "surplus"
    return "is-there" if fact.index == fact.version and fact.fact != "newest" else "value"


def _index_name(host: str | None) -> str:
    return host or "@site.general"


def _update_catalog(app: App, output: Output) -> int:
    updates: list[SubjectUpdate] = []

    def report(update: SubjectUpdate) -> None:
        updates.append(update)
        if not output.json:
            output.write_line(_describe_update(update, output))
            if update.unread:
                unread = output.translate(
                    "catalog-news.unread", subject=update.subject, count=update.unread, host=_index_name(update.host)
                )
                output.write_note(unread)

    try:
        run_job(app.refresh_catalog(), on_event=report)
    finally:
        # Also if nothing could be fetched: the document says what is in use now and how old it is.
        if output.json:
            output.write_json(_update_document(app, updates))
    return 0


def _update_document(app: App, updates: list[SubjectUpdate]) -> dict[str, Any]:
    active_catalog = app.reload_catalog()
    return {
        "schema": "gpu-assistant/catalog-update/1",
        "day": datetime.now(UTC).date().isoformat(),
        "folder": str(app.data.catalog / "current"),
        "as_of": active_catalog.date,
        "days": age_in_days(active_catalog.date),
        "subjects": updates,
    }


def _describe_update(update: SubjectUpdate, output: Output) -> str:
    explanation = output.texts.translate(f"catalog.why.{update.why}") if update.why is not None else None
    return output.translate(
        f"catalog-news.{update.state}",
        subject=update.subject,
        count=update.added,
        host=_index_name(update.host),
        why=explanation,
    )


def _show_catalog(app: App, subject_name: str | None, output: Output) -> int:
    from ..catalog.validation import FILE_TYPES, read_files

    if subject_name is not None and subject_name not in FILE_TYPES:
        raise UsageError("catalog-subject", name=subject_name, known=", ".join(FILE_TYPES))
    selected = read_files(app.catalog, [subject_name] if subject_name is not None else list(FILE_TYPES))
    if output.json:
        output.write_json(_catalog_document(app, selected))
        return 0
    rows = []
    for name, subject in selected.items():
        days, count = age_in_days(subject.as_of), _count_records(subject)
        origin = output.translate("catalog-place.refreshed" if _is_refreshed(app, name) else "catalog-place.built-in")
        rows.append((name, output.translate("catalog-row", date=subject.as_of, days=days, count=count, place=origin)))
    output.write_table(rows)
    for name, subject in selected.items():
        output.write_line(output.translate("catalog-sources", subject=name))
        output.write_table(
            [
                (f"  {key}", "  ".join(filter(None, (source.what, source.url))))
                for key, source in subject.sources.items()
            ]
        )
    output.write_line(output.translate("catalog-folder", path=str(app.catalog.folder)))
    if app.catalog.refreshed_catalog is not None and app.catalog.refreshed_catalog.used_files:
        output.write_line(output.translate("catalog-refreshed", path=str(app.catalog.refreshed_catalog.folder)))
    for ignored in app.catalog.refreshed_catalog.ignored_files if app.catalog.refreshed_catalog is not None else ():
        output.write_note(output.texts.translate(f"catalog.ignored.{ignored.why}", {"file": ignored.file}))
    return 0


def _catalog_document(app: App, selected: dict[str, CatalogFile]) -> dict[str, Any]:
    refreshed = app.catalog.refreshed_catalog
    return {
        "schema": "gpu-assistant/catalog/1",
        "folder": str(app.catalog.folder),
        "refreshed": str(refreshed.folder) if refreshed is not None and refreshed.used_files else None,
        "ignored": refreshed.ignored_files if refreshed is not None else [],
        "state": {
            name: {"as_of": subject.as_of, "days": age_in_days(subject.as_of), "refreshed": _is_refreshed(app, name)}
            for name, subject in selected.items()
        },
        "subjects": selected,
    }


def _is_refreshed(app: App, name: str) -> bool:
    return app.catalog.refreshed_catalog is not None and f"{name}.json" in app.catalog.refreshed_catalog.used_files


def age_in_days(day: str) -> int:
    """The days since a date ("2026-11-21")."""
    from ..catalog.records.base import days_since

    return days_since(day, datetime.now(UTC).date())


def _count_records(subject: CatalogFile) -> int:
    """The number of records in a file: the entries of all its lists."""
    return sum(len(value) for field in subject.__struct_fields__ if isinstance(value := getattr(subject, field), tuple))
