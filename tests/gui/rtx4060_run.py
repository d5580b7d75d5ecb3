"""One setup from end to end, as pictures tell it: a recorded computer with an RTX 4060 whose driver is 566.03.

What is recommended and planned for it is the product's own answer from the catalog, so that versions, sizes and steps
belong together and stay true; only what would take a card is made up: the speed of the download, checks, benchmark.
"""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import InterruptedInstall, LogEvent, Plan, StepEvent
from gpu_assistant.core.recommendation import Alternative, Choice, Recommendation
from gpu_assistant.system.windows import parsing
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import gpu_checks

if TYPE_CHECKING:
    from gpu_assistant.core.types import EnvironmentKind
    from tests.fakes.app import FakeApp

RECORDED_MACHINE = Path(__file__).resolve().parents[1] / "machines" / "windows11-rtx4060-566.json"
ENVIRONMENT = "D:\\AI\\pytorch"
DONE_SHARE = 0.39  # of the download
DICE = random.Random(7)
# Bytes per second: about what the plan reckons with, 50 Mbit/s, with its ups and downs.
SPEEDS = [6.2e6 + 0.5e6 * math.sin(second / 9) + 0.25e6 * DICE.uniform(-1, 1) for second in range(90)]


class Rtx4060Run:
    """Answers and events of that setup; `set_up` makes an app give them. `older`: the release before the newest."""

    older = "2.14.1"

    def __init__(self, folder: Path, *, simulated: bool = False) -> None:
        self._simulated = simulated
        self._app = App(data_dir=str(folder / "advice"), machine_file=str(RECORDED_MACHINE))
        machine = self._app.simulated_machine
        assert machine is not None
        self.machine = machine

    def set_up(self, app: FakeApp) -> None:
        """Let the app be that computer."""
        app.machine = app.results["detect"] = self.machine
        app.recommendation, app.plan = self.recommend, self._plan
        app.shown_folder = ENVIRONMENT
        app.system.name = "windows"
        app.system.python = f"{ENVIRONMENT}\\Scripts\\python.exe"
        scripts = f"{ENVIRONMENT}\\Scripts\\activate"
        app.system.activation = parsing.quote_for_shell(scripts)
        app.system.powershell = parsing.powershell_script_line(f"{scripts}.ps1")
        app.results["verify"], app.results["bench"] = gpu_checks(ENVIRONMENT), card_benchmark()

    def recommend(self, choice: Choice | None = None) -> Recommendation:
        """What is recommended for it."""
        return self._app.setup.recommend(self.machine, choice=choice)

    def plan(self) -> Plan:
        """The plan of what is recommended."""
        return self._plan(self.machine, self.recommend(), Path(ENVIRONMENT))

    def _plan(
        self, machine: object, recommendation: Recommendation, environment: Path, *, made_by: EnvironmentKind = "venv"
    ) -> Plan:
        del machine
        made = self._app.setup.plan(self.machine, recommendation, environment, made_by=made_by)
        return replace(made, simulated=self._simulated)

    def begun(self) -> InterruptedInstall:
        """The setup after the restart that its driver needs."""
        return InterruptedInstall(plan=self.plan(), step="driver", began=0.0, state="reboot-needed")

    def events_until(self, plan: Plan, kind: str) -> tuple[StepEvent, ...]:
        """The steps before the first one of this kind are done, and it runs."""
        events = []
        for step in plan.steps:
            events.append(StepEvent(id=step.id, state="running"))
            if step.kind == kind:
                break
            events.append(StepEvent(id=step.id, state="done"))
        return tuple(events)

    def downloading(self, plan: Plan) -> StepEvent:
        """The download on its way."""
        step = next(each for each in plan.steps if each.kind == "download")
        total = step.bytes or step.data["bytes"]
        assert isinstance(total, int)
        return StepEvent(
            id=step.id,
            state="running",
            done=round(DONE_SHARE * total),
            total=total,
            unit="bytes",
            speed=SPEEDS[-1],
            bottleneck="network",
        )

    def wheel(self, plan: Plan) -> str:
        """The name of PyTorch's file."""
        torch, python = plan.recommendation.pytorch, (plan.recommendation.python or "").replace(".", "")
        assert torch is not None
        return f"torch-{torch.version}+{torch.variant}-cp{python}-cp{python}-win_amd64.whl"

    def missing(self, plan: Plan) -> tuple[AppError, tuple[StepEvent | LogEvent, ...]]:
        """PyTorch's site does not have the newest release: the error, and the events before it."""
        torch = plan.recommendation.pytorch
        assert torch is not None
        # The index is one of builds for this CUDA: what it has of the release before is such a build, too.
        build = self.recommend(Choice(pytorch=self.older, variant=torch.variant)).pytorch
        assert build is not None
        change = {"pytorch": build.version, "variant": build.variant, "python": plan.recommendation.python}
        data = {**change, "build": f"{build.version}+{build.variant}", "site": "@site.pytorch-wheels"}
        error = AppError(
            "release-unavailable",
            alternatives=(Alternative(code="index-torch", change=change, data=data),),
            version=torch.version,
            variant=torch.variant,
            site="@site.pytorch-wheels",
            wheelhouse="@answer.not-given",
            index="@answer.absent",
            general="@answer.not-asked",
            offer=build.version,
        )
        running = self.events_until(plan, "resolve")
        resolve = running[-1].id
        line = f"no version of torch=={torch.version}+{torch.variant}"
        return error, (*running, LogEvent(id=resolve, line=line), StepEvent(id=resolve, state="failed"))
