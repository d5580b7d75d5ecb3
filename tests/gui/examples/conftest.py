"""The wizard, as its own tests open it."""

from __future__ import annotations

from tests.gui.wizard.conftest import at_computer, at_done, at_recommendation, open_wizard

__all__ = ["at_computer", "at_done", "at_recommendation", "open_wizard"]
