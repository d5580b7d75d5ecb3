"""The wizard on fake services, as its own tests open it."""

from __future__ import annotations

from tests.gui.wizard.conftest import app, at_computer, at_recommendation, machine_566, open_wizard, simulated, speak

__all__ = ["app", "at_computer", "at_recommendation", "machine_566", "open_wizard", "simulated", "speak"]
