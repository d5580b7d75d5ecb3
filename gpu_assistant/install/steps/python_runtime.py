"""The Python that the environment is built on: one that is here, or a standalone build, unpacked safely."""

from __future__ import annotations

import tarfile
from pathlib import Path

from ...core.errors import AppError, Cancelled
from ...core.json import storage_error
from ...core.plan import PlanFile, Step
from ...fetch.download import Wanted
from ..fetching import fetch
from ..removal import delete
from ..work import Outcome, Work


def run(step: Step, work: Work) -> Outcome:
    """Raises AppError: python-gone, archive-broken, and what fetching raises."""
    if not step.files:
        work.interpreter = Path(str(step.data["path"]))
        if not work.interpreter.is_file():
            raise AppError("python-gone", path=str(work.interpreter))
        return Outcome(skipped=True, code="progress.python-here", data=step.data)
    file = step.files[0]
    folder = work.data.pythons / file.name.partition("-install_only")[0].removesuffix(".tar.gz")
    interpreter = work.system.standalone_python(folder)
    if interpreter.is_file():
        work.interpreter = interpreter
        return Outcome(skipped=True, code="progress.python-here", data={**step.data, "path": str(interpreter)})
    wanted = Wanted(url=file.url, path=work.data.files / file.name, sha256=file.sha256, bytes=file.bytes)
    (archive,) = fetch(work, [wanted])
    work.journal.makes("python", folder)
    _unpack(archive, folder, work, file)
    work.interpreter = interpreter
    return Outcome()


def _unpack(archive: Path, folder: Path, work: Work, file: PlanFile) -> None:
    """Into a folder beside it first; the final name appears when everything is there."""
    partial = folder.with_name(f".{folder.name}.partial")
    delete(partial)
    try:
        partial.mkdir(parents=True)
        with tarfile.open(archive, "r:*") as tar:
            for count, member in enumerate(tar, 1):
                if work.cancel.is_set():
                    raise Cancelled
                # Refuses paths and links that lead out, devices, and odd permissions.
                tar.extract(member, partial, filter="data")
                work.reporter.progress(done=count, total=None, unit="items", bottleneck="installing")
        if not work.system.standalone_python(partial).is_file():
            raise AppError("archive-broken", name=file.name)
        delete(folder)
        partial.replace(folder)
    except (tarfile.TarError, EOFError) as error:
        raise AppError("archive-broken", name=file.name) from error
    except OSError as error:
        raise storage_error(error, folder.parent) from error
