"""A health test's findings for the window: those of a real test of an RTX 4060 in a hot case."""

from __future__ import annotations

from gpu_assistant.core.results import Check, Checks
from gpu_assistant.health.checks import make_check
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.health.job import AREAS_BY_LEVEL, NEVER_COVERED, PRIORITY_AREAS

NAME = "NVIDIA GeForce RTX 4060"
GIB = 2**30
PROGRESS = HealthProgress(check="memory-test", device="cuda:0", done=0.42, temp=61, power_w=103.6)


def _program_checks(level: int) -> tuple[Check, ...]:
    """What the driver's first answer and the program report, in their order."""
    checks = (
        make_check("driver", "pass", value="617.42"),
        make_check("torch-import", "pass", value="2.15.0", seconds=2.1),
        make_check("device-query", "pass", device=NAME, case="named", memory_bytes=8 * GIB),
        make_check("device-compute", "pass", device=NAME),
    )
    if level == 1:
        return checks
    return (
        checks[0],
        make_check("mains", "pass"),
        *checks[1:],
        make_check("copy-bandwidth", "pass", device=NAME, up_gb_s=12.6, down_gb_s=12.9),
        *(
            make_check("matmul-bits", "pass", device=NAME, dtype=dtype, runs=runs)
            for dtype, runs in (("float32", 214), ("float16", 902))
        ),
        make_check("memory-test", "pass", device=NAME, tested_memory_bytes=round(6.4 * GIB), passes=3),
    )


def progress_reports(level: int = 2) -> tuple[Check | HealthProgress, ...]:
    """A test of this level up to the memory test, of which it has done a part."""
    return (*_program_checks(level)[:-1], PROGRESS)


def health_checks(level: int = 2) -> Checks:
    """A card that computes right and got hot; its memory has no error counters. Level 1 loads it too little to judge
    the link.
    """
    link = {"gen": 4, "lanes": 8, "gen_max": 4, "most_lanes": 8}
    checks = [
        *_program_checks(level),
        make_check("card-answers", "pass", device=NAME),
        make_check("card-link", "skip", device=NAME, reason="@health.reason.at-rest")
        if level == 1
        else make_check("card-link", "pass", device=NAME, **link),
        make_check("card-memory", "pass", device=NAME, free_memory_bytes=7 * GIB, total_memory_bytes=8 * GIB),
        make_check("card-errors", "skip", device=NAME, reason="@health.reason.no-counters"),
        make_check("card-xid", "pass", device=NAME, value=0),
        make_check("card-heat", "warn", value=86, device=NAME, limit=87, air="@health.air.desktop"),
        make_check("card-fan", "pass", device=NAME, value=1900),
    ]
    if level > 1:
        checks += [
            make_check("card-held-back", "pass", device=NAME, value=0),
            make_check("link-speed", "pass", device=NAME, share=82),
        ]
    covered = {check.id for check in checks if check.state != "skip"}
    areas = [area for each in AREAS_BY_LEVEL.values() for area in each]
    return Checks(
        schema="gpu-assistant/checks/1",
        verdict="warn",
        checks=tuple(checks),
        level=level,
        covers=tuple(area for area in areas if area in covered),
        leaves_out=(
            *(area for area in dict.fromkeys((*PRIORITY_AREAS, *areas)) if area not in covered),
            *NEVER_COVERED,
        ),
    )
