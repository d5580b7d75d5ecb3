"""What a plan leaves to the user: nothing of the toolkit, whichever way it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.json import decode
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui.wizard.pages.recommendation.part_summary import uncovered_parts
from gpu_assistant.install.plan.planner import make_plan

MACHINES = Path(__file__).resolve().parents[4] / "machines"


@pytest.mark.parametrize("way", ["archives", "wheels", "installer"])
@pytest.mark.parametrize("name", ["ubuntu-h100.json", "windows11-rtx5090.json"])
def test_toolkit_is_covered_whichever_way_it_comes(name: str, way: str, tmp_path: Path) -> None:
    machine = decode((MACHINES / name).read_bytes(), Machine)
    catalog = load_catalog(resources_dir() / "catalog")
    advice = recommend(machine, catalog, goal="cuda-dev", choice=Choice(toolkit_way=way, way="newest"))
    plan = make_plan(
        machine,
        advice,
        catalog,
        data=DataDir(tmp_path / "data"),
        environment=tmp_path / "env",
        wheelhouse=None,
        simulated=True,
    )
    assert advice.cuda_toolkit.action == "install"
    assert uncovered_parts(advice, plan) == ()
