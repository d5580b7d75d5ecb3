"""Drop-downs whose entries are expensive to make."""

from __future__ import annotations

import pytest

from gpu_assistant.gui.widgets.inputs import Dropdown, DropdownEntry

pytestmark = pytest.mark.gui


def test_entries_are_built_on_first_use(qtbot) -> None:
    calls = []

    def build_entries() -> list[DropdownEntry]:
        calls.append(1)
        return [DropdownEntry(value="a", text="A")]

    dropdown = Dropdown()
    qtbot.addWidget(dropdown)
    dropdown.set_entries(build_entries, "a", "A", "Letter")
    assert calls == []
    assert [entry.text for entry in dropdown.entries] == ["A"]
    assert len(dropdown.entries) == len(calls) == 1
