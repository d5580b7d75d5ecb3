"""A health test's findings for the window."""

from __future__ import annotations

from gpu_assistant.core.results import Checks
from gpu_assistant.health.checks import make_check
from gpu_assistant.health.child_protocol import HealthProgress

PROGRESS = HealthProgress(check="memory-test", device="cuda:0", done=0.42, temp=61, power_w=103.6)


def health_checks(level: int = 2) -> Checks:
    """A card that computes right and got hot, whose link was not judged."""
    checks = (
        make_check("driver", "pass", value="580.65"),
        make_check("card-answers", "pass", device="GPU 0"),
        make_check("device-compute", "pass", device="GPU 0"),
        make_check("card-heat", "warn", value=86, device="GPU 0", limit=87, air="@health.air.desktop"),
        make_check("card-link", "skip", device="GPU 0", reason="@health.reason.at-rest"),
    )
    return Checks(
        schema="gpu-assistant/checks/1",
        verdict="warn",
        checks=checks,
        level=level,
        covers=("driver", "card-answers", "device-compute", "card-heat"),
        leaves_out=("card-link", "load", "graphics", "rare"),
    )
