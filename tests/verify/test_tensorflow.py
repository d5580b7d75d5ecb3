"""An environment with TensorFlow: a stand-in that sees a card, and its faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core import json
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.recommendation import DriverAdvice, PartAdvice, Recommendation, TensorFlowChoice
from gpu_assistant.core.results import Checks
from gpu_assistant.system import current_system
from gpu_assistant.texts.translate import load_texts
from gpu_assistant.verify.job import TENSORFLOW_CHECK_IDS, TORCH_CHECK_IDS, VerifyJob

from ..fakes.environments import environment_with, site_packages
from .test_job import one, states, verified

STAND_IN = Path(__file__).parent.parent / "fakes" / "tensorflow_with_card.py"


def environment(folder: Path, *, gpu: bool = True, version: str = "2.21", there: bool = True) -> Path:
    """A Python environment that was made for TensorFlow alone."""
    environment_with(folder, None)
    if there:
        package = site_packages(folder) / "tensorflow"
        package.mkdir()
        (package / "__init__.py").write_bytes(STAND_IN.read_bytes())
    none = PartAdvice(action="none")
    recommendation = Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="tensorflow",
        accelerator="cuda" if gpu else "cpu",
        python=None,
        pytorch=None,
        driver=DriverAdvice(action="none"),
        cuda_toolkit=none,
        cudnn=none,
        tensorflow=TensorFlowChoice(version=version, requirement="tensorflow", gpu=gpu),
    )
    json.write_file(folder / "gpu-assistant.json", json.encode_pretty({"recommendation": recommendation}))
    return folder


def checked(folder: Path, **more: Any) -> Checks:
    return VerifyJob(environment(folder, **more), current_system(), time_limit=60).run(JobContext())


def test_working_gpu(tmp_path: Path) -> None:
    checks = checked(tmp_path / "环境 tf")
    assert (checks.verdict, one(checks, "tensorflow-devices").value) == ("pass", 1)
    assert [states(checks)[check_id] for check_id in TENSORFLOW_CHECK_IDS] == ["pass"] * 3
    assert not states(checks).keys() & set(TORCH_CHECK_IDS), "nothing is said of what nobody asked for"


@pytest.mark.parametrize(
    ("fault", "gpu", "check_id", "state", "reason"),
    [
        ("wrong", True, "tensorflow-devices", "fail", "@verify.reason.wrong-result"),
        ("no-card", False, "tensorflow-devices", "skip", "@verify.reason.tensorflow-cpu"),
        ("crash", True, "tensorflow-compute", "fail", "@verify.reason.crashed"),
    ],
)
def test_failure_is_on_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, gpu: bool, check_id: str, state: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE_TENSORFLOW", fault)
    checks = checked(tmp_path / "env", gpu=gpu)
    check = one(checks, check_id)
    assert (check.state, check.data["reason"]) == (state, reason)
    assert (checks.verdict == "fail") == (state == "fail")


def test_keras_leaves_nothing_in_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As Keras does when it is imported (keras/src/backend/config.py of Keras 3).
    writes = """
import os
folder = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
try:
    os.makedirs(folder)
    open(os.path.join(folder, "keras.json"), "w").close()
except OSError:
    pass
"""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    folder = environment(tmp_path / "env")
    with (site_packages(folder) / "tensorflow/__init__.py").open("a", encoding="utf-8") as file:
        file.write(writes)
    checks = VerifyJob(folder, current_system(), time_limit=60).run(JobContext())
    assert (one(checks, "tensorflow-import").state, list(home.iterdir())) == ("pass", [])


def test_missing_tensorflow_skips_rest(tmp_path: Path) -> None:
    checks = checked(tmp_path / "env", there=False)
    assert "No module named 'tensorflow'" in str(one(checks, "tensorflow-import").data["reason"])
    assert (one(checks, "tensorflow-compute").state, checks.verdict) == ("skip", "fail")


def test_other_release_is_a_warning(tmp_path: Path) -> None:
    assert one(checked(tmp_path / "env", version="2.20.0"), "tensorflow-import").state == "warn"


def test_pytorch_environment_has_no_tensorflow_checks(tmp_path: Path) -> None:
    assert not states(verified(environment_with(tmp_path / "env", ""))).keys() & set(TENSORFLOW_CHECK_IDS)


def test_every_check_has_a_text() -> None:
    for check_id in TENSORFLOW_CHECK_IDS:
        assert {f"check.{check_id}.{end}" for end in ("pass", "fail", "skip", "fix")} <= load_texts().keys()
