"""The history as a table has what a card counts and what held it back, by name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_csv import card_name, export
from gpu_assistant.monitor.series import Figures, card

START = 1_790_000_040.0


@pytest.mark.parametrize("seconds", [600, 7200])
def test_errors_fan_and_throttle_reasons_are_columns(tmp_path: Path, seconds: int) -> None:
    now = START
    history, figures = History(clock=lambda: now), Figures()
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
        history.add(now, figures.of(Sample(t=now, gpus=(sick, plain))))
        now += 1
    names = {card(gpu): card_name(gpu) for gpu in (sick, plain)}
    export(history, tmp_path / "h.csv", seconds, names=names)
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
