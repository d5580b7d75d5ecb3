from __future__ import annotations

import csv
import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor.sample_csv import COLUMNS, SampleCsvWriter

ONE = Sample(t=1795000000.5, gpus=(), cpu=12.5, ram_used=1, ram_total=2)
TWO = Sample(
    t=1795000001.5,
    gpus=(
        GpuSample(index=0, name='NVIDIA "RTX", 4060', util=0, power_w=63.2, throttle=("thermal", "power-cap")),
        GpuSample(index=1, throttle=()),
    ),
    cpu=None,
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def widths(path: Path) -> set[int]:
    with path.open(encoding="utf-8", newline="") as file:
        return {len(row) for row in csv.reader(file)}


def test_rows_are_flushed(tmp_path: Path) -> None:
    path = tmp_path / "样本.csv"
    table = SampleCsvWriter(path)
    table.write(ONE)
    assert rows(path)[0]["cpu"] == "12.5"
    table.write(TWO)
    written = rows(path)
    table.close()
    assert [row["index"] for row in written] == ["", "0", "1"]
    assert written[1] | {"util": "0", "name": 'NVIDIA "RTX", 4060', "throttle": "thermal power-cap"} == written[1]
    assert (written[1]["cpu"], written[1]["temp"], written[2]["throttle"]) == ("", "", "")
    assert written[0]["t"] == "1795000000.5"


def test_header_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    for _ in range(2):
        table = SampleCsvWriter(path)
        table.write(ONE)
        table.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.count(",".join(COLUMNS)) == 1
    assert len(lines) == 3


@pytest.mark.parametrize("foreign", [b"a,b,c\n1,2,3\n", b"\xff\xfe\x00\x01", b"x" * 100_000])
def test_foreign_file_is_refused(tmp_path: Path, foreign: bytes) -> None:
    path = tmp_path / "other.csv"
    path.write_bytes(foreign)
    with pytest.raises(UsageError) as caught:
        SampleCsvWriter(path)
    assert caught.value.code == "csv-columns"
    assert path.read_bytes() == foreign


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        SampleCsvWriter(tmp_path / "nowhere" / "out.csv")
    assert caught.value.code == "storage"


@pytest.mark.linux
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_full_disk_is_reported() -> None:
    with pytest.raises(AppError) as caught:
        SampleCsvWriter(Path("/dev/full")).write(ONE)
    assert caught.value.code == "disk-full"


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is told how large its files may grow")
def test_full_disk_leaves_no_partial_row(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    code = "import sys; from tests.monitor.test_sample_csv import fill; fill(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert done.returncode == 0
    text = path.read_bytes()
    assert text.endswith(b"\n")
    assert len(text) > 3000
    table = SampleCsvWriter(path)
    table.write(ONE)
    table.close()
    assert widths(path) == {len(COLUMNS)}


def fill(path: str) -> None:
    """Write into a file that may not grow beyond 4321 bytes; raises AssertionError where that is not refused."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4321, 4321))
    table = SampleCsvWriter(Path(path))
    moments = [TWO] * 1000
    with pytest.raises(AppError):
        deque(map(table.write, moments))


def test_torn_last_row_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    for _ in range(2):
        table = SampleCsvWriter(path)
        table.write(TWO)
        table.close()
        path.write_bytes(path.read_bytes()[:-9])
    table = SampleCsvWriter(path)
    table.write(ONE)
    table.close()
    written = rows(path)
    assert [row["index"] for row in written] == ["0", "0", ""]
    # One that is whole but for its end, as an editor leaves it, is kept.
    path.write_bytes(path.read_bytes()[:-1])
    table = SampleCsvWriter(path)
    table.write(ONE)
    table.close()
    assert len(rows(path)) == 4
    assert widths(path) == {len(COLUMNS)}
