"""How much memory the idle wizard takes, beside an empty window of PySide6.

Prints for both the proportional set size in MB (each page of memory divided by the processes that share it), read from
/proc/self/smaps_rollup once the window has been idle for some seconds, and their ratio (goal: at most 2). Linux only.
`--modules` lists what the wizard has loaded beyond the empty window.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IDLE_MS = 8000  # the wizard preloads its next page, and the first check for updates is over

# Both end in `report`, which prints and quits.
REPORT = f"""
import json, re, sys
from PySide6.QtCore import QTimer

def report():
    text = open("/proc/self/smaps_rollup", encoding="ascii").read()
    pss = int(re.search(r"^Pss: +(\\d+) kB", text, re.M).group(1))
    print(json.dumps({{"mb": pss / 1000, "modules": sorted(sys.modules)}}), flush=True)
    import os
    os._exit(0)

QTimer.singleShot({IDLE_MS}, report)
"""
EMPTY = f"""
from PySide6.QtWidgets import QApplication, QWidget
app = QApplication([])
window = QWidget()
window.resize(1180, 760)
window.show()
{REPORT}
app.exec()
"""
WIZARD = f"""
import sys
from gpu_assistant.app import App
from gpu_assistant.gui.app import DesktopApplication
program = DesktopApplication(App(data_dir=sys.argv[1]), language="en")
program.open()
{REPORT}
program.exec()
"""


def measure(code: str, folder: str) -> dict[str, Any]:
    """Run a window until it was idle for a while; its memory and modules."""
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    done = subprocess.run(
        [sys.executable, "-c", code, folder], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="list the modules that the wizard alone has loaded")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty, wizard = measure(EMPTY, folder), measure(WIZARD, folder)
    print(f"empty window {empty['mb']:6.1f} MB, {len(empty['modules'])} modules")
    print(f"idle wizard  {wizard['mb']:6.1f} MB, {len(wizard['modules'])} modules")
    print(f"ratio        {wizard['mb'] / empty['mb']:6.2f}")
    if arguments.modules:
        print("\n".join(sorted(set(wizard["modules"]) - set(empty["modules"]))))


if __name__ == "__main__":
    main()
