"""The registry of kinds, the names that other rooms know kinds by, and their texts."""

from __future__ import annotations

from gpu_assistant.core.plan_cost import DOWNLOADING_KINDS, UNPACKING_KINDS
from gpu_assistant.install.steps.kinds import ALL_KINDS, STEP_KINDS
from gpu_assistant.texts.localized import Texts


def test_kinds_named_in_core_exist() -> None:
    assert set(STEP_KINDS) >= DOWNLOADING_KINDS | UNPACKING_KINDS


def test_kinds_with_a_cost_have_a_name() -> None:
    named = DOWNLOADING_KINDS | {kind.name for kind in ALL_KINDS if kind.external_installer}
    assert [name for name in sorted(named) if not Texts("en").has_text(f"price.part.{name}")] == []
