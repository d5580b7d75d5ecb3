from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_export import export_history
from gpu_assistant.monitor.history_writer import LOAD_DELAY_S, HistoryWriter
from gpu_assistant.monitor.series import gpu_label

START = 1_790_000_040.0  # a whole minute
CARD = GpuSample(index=0, uuid="GPU-1", util=50, mem_used=3 * 2**30, throttle=())


def sample(second: float, *gpus: GpuSample, cpu: float = 10.0) -> Sample:
    return Sample(t=START + second, gpus=gpus or (CARD,), cpu=cpu, ram_used=2**33)


def store(folder: Path | None, now: float) -> History:
    return History(folder, clock=lambda: START + now)


def test_history_is_loaded_after_delay(tmp_path: Path) -> None:
    recorder = HistoryWriter(lambda: store(tmp_path, 60))
    for second in range(int(LOAD_DELAY_S)):
        recorder.add_sample(sample(second))
        assert recorder.history is None
    recorder.add_sample(sample(LOAD_DELAY_S))
    assert recorder.history is not None
    window = recorder.history.window("GPU-1.util", 60)
    assert len(window.t) == LOAD_DELAY_S + 1
    assert (window.mean == 50).all()


def test_load_now_skips_delay(tmp_path: Path) -> None:
    recorder = HistoryWriter(lambda: store(tmp_path, 1))
    recorder.add_sample(sample(0))
    recorder.load_now()
    recorder.add_sample(sample(1))
    assert recorder.history is not None
    assert len(recorder.history.window("cpu", 60).t) == 2


def test_restart_continues_history(tmp_path: Path) -> None:
    for start in (0, 100):
        recorder = HistoryWriter(lambda end=start + 30: store(tmp_path, end))  # type: ignore[misc]
        recorder.load_now()
        for second in range(30):
            recorder.add_sample(sample(start + second, cpu=float(start)))
        recorder.close()
    reloaded = store(tmp_path, 130)
    reloaded.load()
    cpu = reloaded.window("cpu", 130).mean
    assert len(cpu) == 60
    assert set(cpu) == {0.0, 100.0}


def test_moved_gpu_keeps_its_series(tmp_path: Path) -> None:
    recorder = HistoryWriter(lambda: store(tmp_path, 2))
    recorder.load_now()
    recorder.add_sample(sample(0))
    recorder.add_sample(sample(1, GpuSample(index=0, uuid="GPU-2", util=5), GpuSample(index=1, uuid="GPU-1", util=60)))
    assert recorder.history is not None
    assert recorder.history.window("GPU-1.util", 60).mean.tolist() == [50, 60]
    # What no card told takes no room.
    assert "GPU-1.fan" not in recorder.history.names


def test_full_disk_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    recorder = HistoryWriter(lambda: store(tmp_path / "file" / "history", 300))
    recorder.load_now()
    refused = 0
    for second in range(200):
        try:
            recorder.add_sample(sample(second))
        except AppError:
            refused += 1
    assert refused == 1
    assert recorder.history is not None
    assert len(recorder.history.window("cpu", 300).t) == 200


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_export_table(tmp_path: Path) -> None:
    history = store(None, 60)
    for second in range(60):
        history.add(START + second, {"cpu": float(second), "GPU-1.mem_used": 3 * 2.0**30, "never": None})
    assert export_history(history, tmp_path / "out" / "历史.csv", 60) == 60
    rows = table(tmp_path / "out" / "历史.csv")
    assert list(rows[0]) == ["time", "t", "cpu", "GPU-1.mem_used"]
    assert [row["cpu"] for row in rows[:3]] == ["0", "1", "2"]
    assert float(rows[0]["GPU-1.mem_used"]) == pytest.approx(3 * 2**30, rel=1e-5)
    assert float(rows[0]["t"]) == START + 0.5


def test_coarse_rows_have_low_and_high(tmp_path: Path) -> None:
    history = store(None, 7200)
    for second in range(0, 7200, 5):
        history.add(START + second, {"cpu": float(second % 10)})
    history.add(START + 7200, {"gpu0.temp": 50.0})
    export_history(history, tmp_path / "day.csv", 86_400)
    first, *_, last = table(tmp_path / "day.csv")
    assert (first["cpu"], first["cpu.low"], first["cpu.high"]) == ("2.5", "0", "5")
    assert (first["gpu0.temp"], last["gpu0.temp"]) == ("", "50")


def test_empty_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        export_history(store(None, 0), tmp_path / "out.csv", 60)
    assert caught.value.code == "history-empty"
    assert list(tmp_path.iterdir()) == []


def test_unwritable_export_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    history = store(None, 1)
    history.add(START, {"cpu": 5.0})
    with pytest.raises(AppError) as caught:
        export_history(history, tmp_path / "file" / "out.csv", 60)
    assert caught.value.code != "history-empty"


def test_all_series_share_timestamps() -> None:
    history = store(None, 600)
    for second in range(600):
        name = "cpu" if second < 300 else "gpu0.temp"
        history.add(START + second, {name: 1.0})
    windows = history.windows(600)
    assert len({tuple(window.t) for window in windows.values()}) == 1
    assert np.isfinite(windows["cpu"].mean).sum() == 300


def test_export_groups_columns_by_gpu(tmp_path: Path) -> None:
    clock = [START]
    history = History(None, clock=lambda: clock[0])
    first = {"cpu": 7.0, "GPU-b.util": 5.0, "GPU-b.mem_used": 64_000_000_000.0, "GPU-a.temp": 41.0, "GPU-a.util": 3.0}
    for _ in range(5):
        history.add(clock[0], {**first, "GPU-b.temp": 50.0})
        clock[0] += 1
    gpu = GpuSample(index=0, name="NVIDIA H100")
    export_history(history, tmp_path / "out.csv", 60, names={"GPU-b": gpu_label(gpu), "GPU-a": "GPU 1"})
    heads, row = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()[:2]
    assert heads == (
        "time,t,cpu,GPU 0 NVIDIA H100.util,GPU 0 NVIDIA H100.mem_used,GPU 0 NVIDIA H100.temp,GPU 1.util,GPU 1.temp"
    )
    assert "e+" not in row
    assert row.split(",")[4].startswith("64")
    assert len(row.split(",")[4]) == len("64000000000")


def test_damage_is_reported_once_and_quarantined(tmp_path: Path) -> None:
    first = HistoryWriter(lambda: store(tmp_path, 60), load_delay_s=0)
    for second in range(60):
        first.add_sample(sample(second))
    first.close()
    victim = next(tmp_path.glob("10s-*.history"))
    victim.write_bytes(victim.read_bytes()[:-3])
    again = HistoryWriter(lambda: store(tmp_path, 60), load_delay_s=0)
    with pytest.raises(AppError) as caught:
        again.add_sample(sample(60))
    assert (caught.value.code, caught.value.data) == ("history-damaged", {"count": 1, "path": str(tmp_path)})
    HistoryWriter(lambda: store(tmp_path, 60), load_delay_s=0).add_sample(sample(61))
