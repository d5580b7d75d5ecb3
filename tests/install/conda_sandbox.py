"""A small sandbox to install in, with a conda in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_assistant.core.plan import Plan
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system

from ..fakes.conda import FakeConda
from ..fakes.fault_server import FaultServer
from ..fakes.system import FakeSystem
from .sandbox import INTERPRETER, RELEASE, Sandbox, machine, recommendation


class CondaSandbox(Sandbox):
    """`home` is the user's home folder, where conda keeps its list."""

    def __init__(self, root: Path, server: FaultServer) -> None:
        super().__init__(root, server)
        self.conda = FakeConda(root / "miniforge3")
        self.home = root / "home"
        self.home.mkdir()
        self.system = system(self.conda.program)

    def plan(self, **more: Any) -> Plan:
        """A plan for an environment of conda's."""
        arguments: dict[str, Any] = {"simulated": False, "conda": self.conda.program, "machine": machine(), **more}
        return make_plan(
            arguments.pop("machine"),
            recommendation(RELEASE, self.torch_index),
            self.catalog,
            data=self.data,
            environment=self.environment,
            wheelhouse=None,
            environment_kind="conda",
            **arguments,
        )

    def plain_plan(self) -> Plan:
        """A plan for a plain environment in the same folder."""
        return super().plan()


def system(program: Path) -> FakeSystem:
    return FakeSystem(name=current_system().name, python_candidates=(INTERPRETER,), programs={"conda": program})
