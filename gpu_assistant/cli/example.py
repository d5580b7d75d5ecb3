"""`gpu-assistant example`: runs an example program in an environment, or saves its code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import json
from ..examples.child_protocol import ExampleProgress, ExampleStart
from ..examples.job import ExampleSettings
from .jobs import run_job
from .progress import StatusLine

if TYPE_CHECKING:
    from ..app import App
    from ..examples.job import ExampleResult
    from ..examples.programs import ExampleName
    from .output import Output

NOTEBOOK_SUFFIX = ".ipynb"


def run_example(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Run the program to its end; with --save write its code and run nothing."""
    program: ExampleName = arguments.program
    if arguments.save is not None:
        return _save(program, Path(arguments.save), output)
    settings = ExampleSettings(
        pictures=Path(arguments.pictures) if arguments.pictures else None,
        weights=Path(arguments.weights) if arguments.weights else None,
    )
    job = app.integrations.run_example(
        app.setup.environment_path(arguments.env), program, settings=settings, device=arguments.device
    )
    with ExampleStatusLine(output, program) as line:
        result = run_job(job, on_event=line.show_progress)
    if output.json:
        output.write_json(without_pictures(result))
    else:
        _render_result(result, output)
    return 0


def without_pictures(result: ExampleResult) -> ExampleResult:
    """The result without the pixels of the last pictures: nobody reads them as text."""
    from msgspec.structs import replace

    return result if result.last is None else replace(result, last=replace(result.last, pictures=()))


def _save(program: ExampleName, path: Path, output: Output) -> int:
    """A notebook where the name ends so, else the script; an earlier copy alone is replaced."""
    from ..examples.programs import notebook, program_source
    from .arguments import new_file_path

    source = program_source(program, output.texts.language)
    is_notebook = path.suffix.lower() == NOTEBOOK_SUFFIX
    content = notebook(source, "python3", "Python 3") if is_notebook else source.encode()
    target = new_file_path(str(path), lambda old: old == content)
    json.write_file(target, content)
    if output.json:
        output.write_json({"schema": "gpu-assistant/example/1", "program": program, "path": str(target)})
    else:
        output.write_line(output.texts.translate("example.saved", {"path": str(target)}))
    return 0


class ExampleStatusLine(StatusLine):
    """How far the program is, and what it has learned so far."""

    def __init__(self, output: Output, program: ExampleName) -> None:
        super().__init__(output)
        self._program = program

    def show_progress(self, report: ExampleStart | ExampleProgress) -> None:
        """Show where it runs, then each of its figures."""
        texts = self._output.texts
        if isinstance(report, ExampleStart):
            data = {"torch": report.torch, "device": report.name or report.device}
            self._output.write_note(
                texts.translate("example.started", {"program": texts.translate(f"example.{self._program}"), **data})
            )
        elif report.rate is not None:
            data = {"step": str(report.step), "steps": str(report.steps), "rate": f"{report.rate:.1f}"}
            self._show(texts.translate("example.writing", data))
        elif report.score is not None and report.loss is not None:
            data = {"step": str(report.step), "steps": str(report.steps), "loss": f"{report.loss:.2f}"}
            self._show(texts.translate("example.learning", {**data, "percent": f"{100 * report.score:.0f}"}))


def _render_result(result: ExampleResult, output: Output) -> None:
    last, texts = result.last, output.texts
    if last is None:
        return
    if last.rate is not None:
        millions = f"{last.parameters / 1e6:,.0f}" if last.parameters is not None else None
        output.write_line(texts.translate("example.wrote", {"rate": f"{last.rate:,.1f}", "millions": millions}))
        if last.text:
            output.write_line(last.text)
    elif last.score is not None:
        percent = f"{100 * last.score:.1f}"
        output.write_line(texts.translate("example.learned", {"percent": percent, "seconds": result.seconds}))
