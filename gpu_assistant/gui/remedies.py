"""What the program offers about a finding of the health test or a slow benchmark, each as a button.

A page emits the remedy that was clicked, unless it does it itself; `MainArea.open_remedy` opens the place for it, most
of them in Monitor.
"""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication

Remedy = Literal[
    "show-programs", "watch-temperature", "open-power-settings", "update-driver", "measure-again", "health-test"
]


def remedy_text(remedy: Remedy) -> str:
    """What the button of a remedy says."""
    translate = QCoreApplication.translate
    return {
        "show-programs": translate("Remedies", "Show programs"),
        "watch-temperature": translate("Remedies", "Watch temperature"),
        "open-power-settings": translate("Remedies", "Open power settings"),
        "update-driver": translate("Remedies", "Check for a driver update"),
        "measure-again": translate("Remedies", "Measure again"),
        "health-test": translate("Remedies", "Run health test"),
    }[remedy]
