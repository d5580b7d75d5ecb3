"""Steps to do: those that are shown are counted on from list to list."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from gpu_assistant.gui.widgets.numbered_steps import NumberedStep, NumberedSteps


def test_steps_without_text_have_no_number(show) -> None:
    first, left_out, second = NumberedStep(), NumberedStep(), NumberedStep()
    here, there = NumberedSteps([first, left_out]), NumberedSteps([second])
    first.set_texts("Copy the folder.", "Skip this if it is there already.")
    left_out.set_texts("")
    second.set_texts("Type this:", command="sudo apt install ./x.deb")
    assert there.number_from(here.number_from(1)) == 3
    show(here)
    show(there)
    assert first.accessibleName() == "1. Copy the folder. Skip this if it is there already."
    assert second.accessibleName() == "2. Type this: sudo apt install ./x.deb"
    assert second.command_box is not None
    assert second.command_box.copy_button.isVisible()
    assert first.command_box is None
    button = QPushButton("Open the page")
    second.add_widget(button)
    assert second.controls == (second.command_box.text_edit, second.command_box.copy_button, button)
    second.remove_widget(button)
    assert button not in second.controls
    assert not left_out.isVisible()
    left_out.set_texts("Copy the installer.")
    assert here.number_from(1) == 3
    assert left_out.isVisible()
