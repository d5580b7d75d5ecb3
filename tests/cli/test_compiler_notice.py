"""A C++ compiler that is missing is named by `install` before anything is downloaded, and other advice is not."""

from __future__ import annotations

from gpu_assistant.cli.render.setup import render_source_notices
from gpu_assistant.core.plan import Plan
from gpu_assistant.core.recommendation import RecommendationWarning

from ..install.sandbox import recommendation


def test_missing_compiler_is_named_with_its_command_and_nothing_else() -> None:
    from msgspec.structs import replace

    warnings = (
        RecommendationWarning(code="secure-boot", text="Another warning.", fix="Nothing."),
        RecommendationWarning(code="gcc-missing-command", text="No compiler.", fix="sudo apt-get install g++"),
    )
    plan = Plan(
        schema="gpu-assistant/plan/1",
        goal="cuda-dev",
        env="/env",
        recommendation=replace(recommendation("2.15.0", None), warnings=warnings),
        steps=(),
    )
    lines: list[str] = []
    render_source_notices(plan, lines.append)
    assert lines == ["! No compiler. sudo apt-get install g++"]
