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
def test_a_users_folder_that_makes_trouble(user: User, code: str | None, goal: str) -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42", user=user)
    found = recommend(box, catalog(), goal="tensorflow" if goal == "tensorflow" else "pytorch")
    assert [c for c in codes(found.warnings) if c.startswith("home")] == ([code] if code else [])


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
def test_a_python_that_is_passed_over_is_not_denied(kind: str | None, code: str) -> None:
    found = check(recommend(machine("windows", pythons=(python("3.12.4", kind),)), catalog()))
    assert reason(found, "python").code == code
    flow = recommend(machine("windows", pythons=(python("3.12.4", kind),)), catalog(), goal="tensorflow")
    assert reason(flow, "python").code == f"tensorflow-{code}"


def test_one_that_does_not_suit_is_no_reason() -> None:
    found = check(recommend(machine("windows", pythons=(python("3.7.9", "conda"),)), catalog()))
    assert reason(found, "python").code == "python-download"


def test_a_build_whose_cuda_never_knew_the_chip_is_refused() -> None:
    box = machine("windows", nvidia(RTX_5090), driver="617.42")
    with pytest.raises(UsageError) as refused:
        recommend(box, catalog(), choice=Choice(pytorch="2.0.1", variant="cu117"))
    assert refused.value.data["why"] == "@choice.no-code"
    older = machine("windows", nvidia(RTX_4060), driver="617.42")
    assert "code-unknown" in codes(
        recommend(older, catalog(), choice=Choice(pytorch="2.0.1", variant="cu117")).warnings
    )


def test_a_toolkit_of_which_nobody_knows_the_chips_is_doubtful_and_not_impossible() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    found = check(recommend(box, catalog(), goal="cuda-dev", choice=Choice(cuda_toolkit="13.3.1")))
    assert "toolkit-chip-unknown" in codes(found.warnings)
    assert recommend(box, catalog(), goal="cuda-dev").cuda_toolkit.version != "13.3.1"
