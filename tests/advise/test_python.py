"""Where the user's folder lies, and whose Pythons are on the computer."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import User
from gpu_assistant.core.recommendation import Choice

from .build import RTX_4060, RTX_5090, catalog, check, codes, machine, nvidia, python, reason


@pytest.mark.parametrize(
    ("user", "code"),
    [
        (User(home="C:\\Users\\a", ascii=True, home_too_long=False, onedrive=()), None),
        (User(home="C:\\Users\\a", ascii=True, home_too_long=True, onedrive=()), "home-too-long"),
        (User(home="C:\\Users\\a", onedrive=("C:\\Users\\a\\OneDrive",)), None),
        (User(home="D:\\onedrive\\a", onedrive=("D:\\OneDrive",)), "home-onedrive"),
        (User(home="D:\\OneDriveOld\\a", onedrive=("D:\\OneDrive",)), None),
    ],
)
@pytest.mark.parametrize("goal", ["pytorch", "tensorflow"])
def test_problematic_home_folder_warns(user: User, code: str | None, goal: str) -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42", user=user)
    advice = recommend(box, catalog(), goal="tensorflow" if goal == "tensorflow" else "pytorch")
    assert [c for c in codes(advice.warnings) if c.startswith("home")] == ([code] if code else [])


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("system", "python-here"),
        ("conda", "python-not-conda"),
        ("venv", "python-not-own"),
        ("store", "python-not-own"),
        (None, "python-not-own"),
    ],
)
def test_skipped_python_is_mentioned(kind: str | None, code: str) -> None:
    advice = check(recommend(machine("windows", pythons=(python("3.12.4", kind),)), catalog()))
    assert reason(advice, "python").code == code
    flow = recommend(machine("windows", pythons=(python("3.12.4", kind),)), catalog(), goal="tensorflow")
    assert reason(flow, "python").code == f"tensorflow-{code}"


def test_unsuitable_python_is_not_mentioned() -> None:
    advice = check(recommend(machine("windows", pythons=(python("3.7.9", "conda"),)), catalog()))
    assert reason(advice, "python").code == "python-download"


def test_build_with_cuda_older_than_chip_is_refused() -> None:
    box = machine("windows", nvidia(RTX_5090), driver="617.42")
    with pytest.raises(UsageError) as refused:
        recommend(box, catalog(), choice=Choice(pytorch="2.0.1", variant="cu117"))
    assert refused.value.data["why"] == "@choice.no-code"
    older = machine("windows", nvidia(RTX_4060), driver="617.42")
    assert "code-unknown" in codes(
        recommend(older, catalog(), choice=Choice(pytorch="2.0.1", variant="cu117")).warnings
    )


def test_toolkit_with_unknown_chips_warns() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    advice = check(recommend(box, catalog(), goal="cuda-dev", choice=Choice(cuda_toolkit="13.3.1")))
    assert "toolkit-chip-unknown" in codes(advice.warnings)
    assert recommend(box, catalog(), goal="cuda-dev").cuda_toolkit.version != "13.3.1"
