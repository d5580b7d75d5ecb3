"""Texts of the memory estimate."""

from __future__ import annotations

from msgspec.structs import replace

from gpu_assistant.gui.bench.memory_fit.messages import variant_detail
from tests.fakes.benchmarks import memory_fits


def test_batch_norm_note_only_for_resnet():
    accumulated = memory_fits().fits[3]
    assert "BatchNorm" in variant_detail(accumulated)
    assert variant_detail(replace(accumulated, model="bert-base")) == "a batch in four parts, one update: slower"
