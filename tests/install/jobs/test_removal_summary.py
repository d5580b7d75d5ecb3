"""What goes and what stays, in a person's words."""

from __future__ import annotations

import pytest

from gpu_assistant.core.plan import Step
from gpu_assistant.core.types import Language, Value
from gpu_assistant.install.jobs.removal_summary import summarize_removal
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.texts.localized import Texts

from ..sandbox import Sandbox

ENVIRONMENT: dict[str, Value] = {"name": "pytorch", "bytes": 5_600_000_000, "count": 3, "kept": 1, "path": "/x/pytorch"}


def lines(*steps: Step, language: Language = "en") -> list[str]:
    texts = Texts(language)
    return [texts.message_text(line) for line in summarize_removal(steps)]


def step(code: str, kind: str = "python-packages", **data: Value) -> Step:
    return Step(id=code, kind=kind, code=code, data={**ENVIRONMENT, **data})


@pytest.mark.parametrize(
    ("code", "english", "chinese"),
    [
        (
            "remove-environment-packages",
            "The environment pytorch, 5.6 GB, including 3 packages that you added",
            "环境 pytorch，5.6 GB，连同你添加的 3 个软件包",
        ),
        (
            "remove-environment-files",
            "The environment pytorch, 5.6 GB, except 1 file of your own",
            "环境 pytorch，5.6 GB，但保留你自己的 1 项内容",
        ),
    ],
)
def test_environment_is_named_with_size_and_packages(code: str, english: str, chinese: str) -> None:
    assert lines(step(code)) == [english]
    assert lines(step(code), language="zh_CN") == [chinese]


def test_settings_are_counted_and_empty_folders_left_out() -> None:
    steps = (
        step("remove-folder", "cuda-redist"),
        step("restore-variable", "variables"),
        step("remove-path-entry", "variables"),
        step("remove-empty", "variables"),
        step("leave-driver", "nvidia-driver", thing="NVIDIA driver"),
    )
    assert lines(*steps) == [
        "The CUDA Toolkit, 5.6 GB",
        "Restored: 2 settings, such as variables and menu entries",
        "Kept: NVIDIA driver",
    ]


def test_preview_of_real_environment_names_its_size(sandbox: Sandbox) -> None:
    sandbox.install()
    (first, *_) = lines(*UninstallJob(sandbox.environment, sandbox.data, sandbox.system).steps())
    assert first.startswith("The environment env, ")
    assert first.endswith("B")
