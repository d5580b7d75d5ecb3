"""The history as a table has what a card counts and what held it back, by name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_export import export_history
from gpu_assistant.monitor.series import SeriesExtractor, gpu_key, gpu_label

START = 1_790_000_040.0


@pytest.mark.parametrize("seconds", [600, 7200])
def test_error_fan_and_throttle_columns(tmp_path: Path, seconds: int) -> None:
    now = START
    history, figures = History(clock=lambda: now), SeriesExtractor()
    plain = GpuSample(index=1, uuid="GPU-b", name="Other", temp=50)
    for second in range(600):
        sick = GpuSample(
            index=0,
            uuid="GPU-a",
            name="NVIDIA H100",
            fan=40,
            throttle=("power-cap",) if second >= 300 else (),
            ecc_corrected=70_000 + second,
            ecc_uncorrected=0 if second < 400 else 3,
            xid=0 if second < 500 else 79,
        )
        history.add(now, figures.values(Sample(t=now, gpus=(sick, plain))))
        now += 1
    names = {gpu_key(gpu): gpu_label(gpu) for gpu in (sick, plain)}
    export_history(history, tmp_path / "h.csv", seconds, names=names)
    with (tmp_path / "h.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    last, head = rows[-1], "GPU 0 NVIDIA H100."
    assert last[head + "fan"] == "40"
    assert float(last[head + "ecc_corrected"]) == pytest.approx(70_599, rel=1 / 2000)
    assert (last[head + "ecc_uncorrected"], last[head + "xid"], last[head + "throttle_power-cap"]) == ("3", "79", "1")
    assert rows[2][head + "throttle_power-cap"] == ""
    # A mean of counts says nothing.
    assert head + "xid.low" not in last
    assert (head + "fan.low" in last) == (seconds > 3660)
    assert not any(name.startswith("GPU 1 Other.ecc") for name in last)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_removed_gpu_keeps_its_label(tmp_path: Path) -> None:
    now = START
    history, figures = History(tmp_path, clock=lambda: now), SeriesExtractor()
    cards = [GpuSample(index=0, uuid=f"GPU-{letter}", name="NVIDIA H100", temp=50) for letter in "ab"]
    cards.append(GpuSample(index=1, uuid="GPU-c", name="GTX 1060", temp=60))
    for second in range(30):
        gpu = cards[second // 10]
        history.gpu_names.update((gpu,))
        history.add(now, figures.values(Sample(t=now, gpus=(gpu,))))
        now += 1
    history.close()
    again = History(tmp_path, clock=lambda: now)
    again.load()
    export_history(again, tmp_path / "h.csv", 60, names={"GPU-b": "GPU 0 NVIDIA H100"})
    heads = [head.removesuffix(".temp") for head in table(tmp_path / "h.csv")[0] if head.endswith(".temp")]
    assert heads == ["GPU 0 NVIDIA H100", "GPU 0 NVIDIA H100 (GPU-a)", "GPU 1 GTX 1060"]


def test_values_are_rounded_to_stored_precision(tmp_path: Path) -> None:
    now = START
    history, figures = History(tmp_path, clock=lambda: now), SeriesExtractor()
    gpu = GpuSample(index=0, uuid="GPU-a", clock_mem=8501, clock_sm=2460, util=37, mem_used=2 * 10**9, power_w=63.2)
    for _ in range(60):
        history.add(now, figures.values(Sample(t=now, gpus=(gpu,), cpu=0.0)))
        now += 1
    for seconds, clock in ((600, "8501"), (7200, "8500")):
        export_history(history, tmp_path / f"{seconds}.csv", seconds)
        row = table(tmp_path / f"{seconds}.csv")[0]
        values = [row[f"GPU-a.{figure}"] for figure in ("clock_mem", "clock_sm", "util", "power_w")]
        assert [*values, row["cpu"]] == [clock, "2460", "37", "63.2", "0"]
        assert float(row["GPU-a.mem_used"]) == pytest.approx(2e9, rel=1e-6 if seconds == 600 else 1e-3)
