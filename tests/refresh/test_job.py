"""A refresh from start to end: what came is used, what failed is said, and the last good files always stay."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from gpu_assistant.advise.builds import cuda_builds, list_builds
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.catalog.validation import validate_catalog
from gpu_assistant.core.errors import Cancelled, NetworkError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.versions import Capability, Version
from gpu_assistant.refresh.job import RefreshJob, RefreshResult
from tests.fakes.fault_server import Fault
from tests.refresh.conftest import FLOOR, TODAY
from tests.refresh.publisher_pages import HASH, Publishers, listing, lookup_answer, toolkit_index, wheel_page

Run = Callable[..., RefreshResult]
Load = Callable[[], Catalog]
NEWEST = Version("9.1.0")


def states(done: RefreshResult) -> dict[str, tuple[str, str | None]]:
    return {one.subject: (one.state, one.why) for one in done.subjects}


def test_all_subjects_are_updated(refresh: Run, refreshed: Load, folder: Path) -> None:
    done = refresh()
    assert states(done) == dict.fromkeys(("pytorch", "cuda", "cudnn", "drivers"), ("updated", None))
    catalog = refreshed()
    newest = catalog.releases[0]
    assert (newest.version, newest.date, newest.python) == (NEWEST, None, ("3.13", "3.14"))
    build = catalog.build("9.1.0", "cu139", "windows", "x86_64")
    assert build is not None
    assert (build.arch_list, build.sha256, build.index_url) == (
        None,
        {"3.13": HASH},
        "https://download.pytorch.org/whl/cu139",
    )
    toolkit = catalog.cuda.toolkits[0]
    assert (toolkit.version, toolkit.date, toolkit.windows_driver, toolkit.lowest_capability) == (
        Version("13.9.1"),
        "2026-11-25",
        None,
        None,
    )
    assert toolkit.redist_sha256 is not None
    cudnn = next(release for release in catalog.cudnn.releases if release.version.text == "9.99.0.7")
    assert (cudnn.cuda_majors, cudnn.lowest_capability, cudnn.archives[0].bytes) == ((12, 13), {}, 1330803635)
    package = catalog.drivers.packages[0]
    assert package.version == Version("699.10")
    assert (package.channel, package.date, package.sha256) == ("studio", "2026-11-25", None)
    assert catalog.date == TODAY.isoformat()
    assert validate_catalog(folder, FLOOR) == ()


def test_unreviewed_build_is_not_recommended(refresh: Run, refreshed: Load) -> None:
    refresh()
    catalog = refreshed()
    assert list_builds(catalog, "windows", "x86_64")[0].release.version == NEWEST
    runnable = cuda_builds(catalog, "windows", "x86_64", Capability("8.9"))
    assert NEWEST not in {build.release.version for build, _ in runnable}


def test_unchanged_subject_gets_new_date(refresh: Run, refreshed: Load) -> None:
    first = refresh()
    again = refresh(date(2026, 12, 24))
    assert {one.state for one in first.subjects} == {"updated"}
    assert {one.state for one in again.subjects} == {"unchanged"}
    assert refreshed().date == "2026-12-24"
    assert len(refreshed().releases) == len(load_catalog(FLOOR).releases) + 1


def test_some_sources_fail(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    publishers.server.files[publishers.wheels].faults = [Fault("status", status=503)]
    publishers.serve(publishers.cudnn, b"<html>Please log in</html>")
    done = refresh()
    assert states(done) == {
        "pytorch": ("failed", "unreachable"),
        "cuda": ("updated", None),
        "cudnn": ("failed", "garbage"),
        "drivers": ("updated", None),
    }
    catalog = refreshed()
    assert catalog.pytorch == load_catalog(FLOOR).pytorch
    assert catalog.cuda.toolkits[0].version == Version("13.9.1")


def test_failed_source_keeps_earlier_refresh(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    refresh()
    publishers.server.files[publishers.wheels].faults = [Fault("reset")]
    refresh(date(2026, 12, 1))
    assert refreshed().releases[0].version == NEWEST
    assert refreshed().pytorch.as_of == TODAY.isoformat()


def test_no_source_answers(publishers: Publishers, refresh: Run, folder: Path) -> None:
    for served in publishers.server.files.values():
        served.faults = [Fault("reset")] * 3
    with pytest.raises(NetworkError) as caught:
        refresh()
    assert (caught.value.code, caught.value.exit_code) == ("catalog-offline", 6)
    assert caught.value.data == {"date": load_catalog(FLOOR).date, "days": 9}
    assert not folder.exists()


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault("redirect", location="ftp://example.invalid/"), "insecure"),
        (Fault("drop", after=100), "unreachable"),
        (Fault("garbage"), "garbage"),
        (Fault("status", status=404), "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_invalid_response(publishers: Publishers, refresh: Run, fault: Fault, why: str) -> None:
    publishers.server.files[publishers.wheels].faults = [fault]
    assert states(refresh())["pytorch"] == ("failed", why)


def test_huge_response_is_cut_off(publishers: Publishers, refresh: Run) -> None:
    publishers.serve(publishers.wheels, b"<html>" + b"x" * (64 << 20))
    assert states(refresh())["pytorch"] == ("failed", "too-large")
    assert publishers.server.sent < 32 << 20


def test_wrong_driver_branch_is_rejected(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    publishers.serve(publishers.lookup, lookup_answer(host="download.example.org"))
    assert states(refresh())["drivers"] == ("failed", "garbage")
    publishers.serve(publishers.lookup, lookup_answer(version="1.10"))
    assert states(refresh())["drivers"] == ("unchanged", None)
    assert refreshed().drivers.packages == load_catalog(FLOOR).drivers.packages


def test_older_index_files_are_not_read(publishers: Publishers, refresh: Run) -> None:
    publishers.serve(publishers.cuda, listing("11.0.3", "12.0.0"))
    assert states(refresh())["cuda"] == ("unchanged", None)
    assert not publishers.server.gets(publishers.cuda + "redistrib_11.0.3.json")


def test_clock_set_back_keeps_date(refresh: Run, refreshed: Load) -> None:
    refresh()
    refresh(date(2026, 11, 26))
    assert refreshed().date == TODAY.isoformat()


def test_inconsistent_data_is_rejected(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    publishers.serve(publishers.cuda + "redistrib_13.9.1.json", toolkit_index(day="2999-01-01"))
    assert states(refresh())["cuda"] == ("failed", "garbage")
    assert refreshed().cuda.toolkits == load_catalog(FLOOR).cuda.toolkits
    assert refreshed().releases[0].version == NEWEST


def test_builds_for_unknown_cuda_are_skipped(publishers: Publishers, refresh: Run) -> None:
    publishers.serve(publishers.wheels, wheel_page("torch-9.2.0+cu990-cp313-cp313-win_amd64.whl"))
    assert states(refresh())["pytorch"] == ("unchanged", None)


def test_cancel(publishers: Publishers, folder: Path) -> None:
    context = JobContext[RefreshResult]()
    context.cancel.set()
    with pytest.raises(Cancelled):
        RefreshJob(load_catalog(FLOOR), publishers.source, folder, today=TODAY).run(context)
    assert not folder.exists()


KILLED = """
import os, sys
from datetime import date
from pathlib import Path
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.refresh import store
folder, floor, at = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
real = Path.rename
def rename(self, target):
    if self.name == at:
        os._exit(9)
    return real(self, target)
Path.rename = rename
catalog = load_catalog(floor)
store.store_subjects(folder, floor, {"cuda": catalog.cuda}, "2026-12-31")
"""


@pytest.mark.parametrize("moment", ["current", "partial"])
def test_interrupted_store_is_restored(refresh: Run, refreshed: Load, folder: Path, moment: str) -> None:
    refresh()
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(FLOOR), moment], check=False, timeout=60)
    assert done.returncode == 9
    if folder.exists():
        assert validate_catalog(folder, FLOOR) == ()
        assert refreshed().releases[0].version == NEWEST
    else:
        assert refreshed().pytorch == load_catalog(FLOOR).pytorch  # the floor, until the next refresh
    refresh(date(2026, 12, 2))
    assert refreshed().releases[0].version == NEWEST
