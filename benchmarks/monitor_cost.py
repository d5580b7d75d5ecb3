"""What the Monitor page costs of one core at a sample a second: shown, and hidden while samples are kept and judged.

    python benchmarks/monitor_cost.py [--seconds N]

One GPU, answered by the library in NVML's place (tests/nvml). Prints the process's share of a core in percent for both,
and beside them what the empty event loop of the same process takes. Offscreen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gpu_assistant.app import App
from gpu_assistant.app.monitoring import HealthEvaluator
from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.page import MonitorPage
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system import current_system
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from tests.nvml.machines import RTX_4060
from tests.nvml.scenario import Scenario, built

SIZE = (1092, 760)
SETTLE_S = 5.0


def share(seconds: float) -> float:
    """Percent of a core that this process takes while its event loop runs for a while."""
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    began, used = time.perf_counter(), time.process_time()
    loop.exec()
    return (time.process_time() - used) / (time.perf_counter() - began) * 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    application = QApplication([])
    theme.set_theme(application, "dark")
    with tempfile.TemporaryDirectory() as folder:
        library = built(Path(folder))
        if library is None:
            sys.exit("no C compiler")
        scenario = Scenario(Path(folder) / "scenario", library, {**RTX_4060, "compute": "", "graphics": ""})
        scenario.set(fixed="1")
        os.environ["FAKE_NVML_SCENARIO"] = str(scenario.path)
        idle = share(given.seconds)
        app = App(data_dir=folder)
        sampling = SamplingService(
            lambda: Sampler(NvmlMonitor(current_system(), library=library)),
            lambda: History(Path(folder) / "history"),
            evaluator=HealthEvaluator(app.monitoring.health_monitor, app.monitoring.load_baselines),
        )
        page = MonitorPage(app, sampling)
        page.resize(*SIZE)
        page.show()
        share(SETTLE_S)
        shown = share(given.seconds)
        page.hide()
        share(SETTLE_S)
        hidden = share(given.seconds)
        sampling.stop()
    print(f"of one core: shown {shown:.2f} %, hidden {hidden:.2f} %, an empty event loop {idle:.2f} %")


if __name__ == "__main__":
    main()
