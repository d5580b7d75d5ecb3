"""Eight cards alike are one line, and the one that differs has its own."""

from __future__ import annotations

import pytest

from gpu_assistant.cli.output import Output
from gpu_assistant.cli.render import health
from gpu_assistant.core.results import Alarm, Check, Checks
from gpu_assistant.reports.health import render_html
from gpu_assistant.texts.localized import Texts


def heat(gpu: int, temp: int, state: str = "pass") -> Check:
    data = {"device": f"GPU {gpu} (NVIDIA A)", "gpu": gpu, "value": temp, "limit": 87, "reason": None}
    return Check(id="card-heat", state=state, value=temp, data=data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("language", "all_of_them", "some"),
    [
        ("en", "each of the 8 cards reached 50–57 °C", "each of GPU 0–2, 4, 5, 7 reached 50–57 °C"),
        ("zh_CN", "全部 8 张显卡 最高到 50–57 °C", "GPU 0–2、4、5、7 最高到 50–57 °C"),
    ],
)
def test_equal_checks_fold_and_others_do_not(language: str, all_of_them: str, some: str) -> None:
    texts = Texts(language)  # type: ignore[arg-type]

    def texts_of(checks: list[Check]) -> list[str]:
        return [texts.check_text(check) for check in health.fold_checks(checks, texts)]

    driver = Check(id="driver", state="pass", data={"value": "566.03"})
    (_, one) = texts_of([driver, *(heat(gpu, 50 + gpu) for gpu in range(8))])
    assert one.startswith(all_of_them)
    ill = [heat(gpu, 88, "warn") if gpu in (3, 6) else heat(gpu, 50 + gpu) for gpu in range(8)]
    (_, well, hot) = texts_of([driver, *ill])
    assert well.startswith(some)
    assert "GPU 3, 6" in hot if language == "en" else "GPU 3、6" in hot
    (_, _, alone) = texts_of(
        [driver, *(heat(gpu, 88 if gpu == 3 else 50, "warn" if gpu == 3 else "pass") for gpu in range(8))]
    )
    assert "GPU 3 (NVIDIA A)" in alone


def test_different_texts_are_not_folded() -> None:
    texts = Texts("en")
    skip = [
        Check(id="card-link", state="skip", data={"device": "A", "gpu": gpu, "reason": reason, "gen": gen})
        for gpu, reason, gen in (
            (0, "@health.reason.at-rest", 1),
            (1, "@health.reason.too-short", 1),
            (2, "@health.reason.at-rest", None),
        )
    ]
    assert len(health.fold_checks(skip, texts)) == 3
    unlike = [
        Check(id="matmul-bits", state="pass", data={"device": "A", "gpu": 0, "dtype": kind})
        for kind in ("float16", "float32")
    ]
    assert health.fold_checks(unlike, texts) == tuple(unlike)
    of_nobody = [Check(id="torch-import", state="pass"), Check(id="torch-import", state="pass")]
    assert len(health.fold_checks(of_nobody, texts)) == 2


def test_alarms_of_several_gpus_fold() -> None:
    texts = Texts("en")
    hot = [
        Alarm(
            id="hot", level="warn", gpu=gpu, since=0.0, data={"name": f"GPU {gpu} (A)", "temp": 85 + gpu, "limit": 87}
        )
        for gpu in (0, 1)
    ]
    (one,) = health.fold_alarms(hot, texts, cards=2)
    assert one.data["name"] == "each of the 2 cards"
    (one,) = health.fold_alarms(hot, texts, cards=8)
    assert (one.data["name"], one.data["temp"], one.data["limit"]) == ("each of GPU 0, 1", "85–86", 87)


def test_name_at_the_start_of_a_check_keeps_its_case(capsys: pytest.CaptureFixture[str]) -> None:
    check = Check(id="cudnn", state="pass", value="9.19.0", data={"value": "9.19.0", "device": "NVIDIA H200"})
    checks = Texts("en").localize_checks(Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(check,)))
    health.render_checks(checks, Output(Texts("en"), json=False, quiet=False))
    assert capsys.readouterr().out.splitlines()[0] == "✓ cuDNN 9.19.0 calculates correctly on NVIDIA H200."
    assert "cuDNN 9.19.0" in render_html(checks, 0.0)


def test_folded_check_starts_with_a_capital(capsys: pytest.CaptureFixture[str]) -> None:
    texts = Texts("en")
    folded = health.fold_checks([heat(gpu, 50 + gpu) for gpu in range(8)], texts)
    checks = texts.localize_checks(Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=folded))
    health.render_checks(checks, Output(texts, json=False, quiet=False))
    assert capsys.readouterr().out.startswith("✓ Each of the 8 cards reached 50–57 °C")
