"""The lines of `monitor` while the driver is waited for."""

from __future__ import annotations

import pytest

from gpu_assistant.cli.monitor import SamplePrinter
from gpu_assistant.cli.output import Output
from gpu_assistant.core.results import GpuSample, NvmlState, Sample
from gpu_assistant.texts.localized import Texts


def at(t: float, nvml: NvmlState) -> Sample:
    return Sample(t=t, nvml=nvml, gpus=(GpuSample(index=0, state="ready" if nvml == "ready" else "silent"),))


def test_pending_driver_is_printed_at_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    lines = SamplePrinter(Output(Texts("en"), json=False, quiet=False))
    states: list[NvmlState] = ["ready", *["slow"] * 15, *["hung"] * 12, "ready", "ready"]
    printed = [(second, state) for second, state in enumerate(states) if lines.print_sample(at(float(second), state))]
    assert printed == [
        (0, "ready"),
        (1, "slow"),
        (11, "slow"),
        (16, "hung"),
        (26, "hung"),
        (28, "ready"),
        (29, "ready"),
    ]
    output = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" | ")[2] for line in output[1:5]] == [
        "The NVIDIA driver is slow to respond.",
        "the NVIDIA driver has not answered for 10 seconds",
        "The NVIDIA driver is not responding.",
        "the NVIDIA driver has not answered for 25 seconds",
    ]
