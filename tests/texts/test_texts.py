"""Every sentence stands in both languages, with the same places, in the voice that was agreed."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpu_assistant.core.message import Message
from gpu_assistant.core.results import Checks
from gpu_assistant.health.checks import make_check
from gpu_assistant.texts.format import format_duration, format_estimated_duration, format_memory, format_size
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts

ROOT = Path(__file__).resolve().parents[2]
TABLE = load_texts()


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_placeholders() -> None:
    assert [code for code, text in TABLE.items() if set(text) != {"en", "zh_CN"}] == []
    assert [code for code, text in TABLE.items() if places(text["en"]) != places(text["zh_CN"])] == []
    assert [
        code
        for code, text in TABLE.items()
        for sentence in text.values()
        if not sentence or sentence.strip() != sentence
    ] == []


# Places that hold how many of something there are, and can hold 1.
FIGURES = {"cores", "count", "kept", "n", "parts", "passes", "reports", "runs", "threads", "uncorrected", "words"}
# What is never said, of each language.
UNSAID = {
    "en": re.compile(r"!|successfully|\boops\b|\bplease\b", re.IGNORECASE),
    # A space between Chinese and Latin letters or digits; places count as Latin. Half-width punctuation never follows a
    # Chinese character.
    "zh_CN": re.compile(r"！|您|成功地|[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]|[\u4e00-\u9fff][,;:?!]"),
}


@pytest.mark.parametrize("language", UNSAID)
def test_voice(language: str) -> None:
    matches = {code: UNSAID[language].search(text[language]) for code, text in TABLE.items()}
    assert {code: match.group() for code, match in matches.items() if match} == {}


# What stands behind a figure and is no noun of many, or never one of them: GPUs compute together.
NO_NOUN = {"GPUs", "computes", "has", "is", "pass", "was"}


def test_count_of_one_is_singular() -> None:
    english, wrong = Texts("en"), {}
    for code, text in TABLE.items():
        names = {name for name in places(text["en"]) if name in FIGURES}
        if not names:
            continue
        sentence = english.translate(code, dict.fromkeys(places(text["en"]), "x") | dict.fromkeys(names, 1))
        for word in re.findall(r"(?<![\d.(])\b1 (?:[a-z]+ )?([A-Za-z]+s)\b", sentence):
            if word not in NO_NOUN:
                wrong[code] = word
    assert wrong == {}
    assert english.translate("progress.bundle-whole", {"count": 1, "mark": "x"}).startswith("1 file;")
    assert english.translate("progress.bundle-whole", {"count": 11, "mark": "x"}).startswith("11 files;")
    assert english.translate("check.memory-test.pass", {"tested_memory_bytes": 0, "device": "x", "passes": 1}).endswith(
        "pass."
    )


CODE = re.compile(r"“[ -~]*”")
MARKS = "“”‘’（），。：；！？、《》"
# In Chinese the marks are full-width and bring their own gaps; what is typed, or a place's value, keeps its own.
UNEVEN = re.compile(rf"[()]| [{MARKS}]|[{MARKS}] |[\u4e00-\u9fff] [\u4e00-\u9fff]|GPU Assistant")


def test_chinese_punctuation_is_full_width_without_gaps() -> None:
    texts = {code: text["zh_CN"] for code, text in TABLE.items()}
    rooms = sorted((ROOT / "resources/translations").glob("*_zh_CN.ts"))
    # Qt's own words have an accelerator in half-width brackets, as everywhere on a desktop.
    for path in (path for path in rooms if path.name != "qt_zh_CN.ts"):
        for message in ElementTree.parse(path).iter("message"):
            source = message.findtext("source")
            texts |= {f"{path.name}: {source}": text for text in message.find("translation").itertext()}
    assert len(texts) > len(TABLE) + 500
    matches = {code: UNEVEN.search(CODE.sub("“”", text)) for code, text in texts.items()}
    assert {code: match.group() for code, match in matches.items() if match} == {}


def raised_codes() -> set[tuple[str, str]]:
    """(file, code) of every AppError family member that is raised with a literal code."""
    family = {"AppError", "CallError", "CannotSetUp", "NetworkError", "RebootNeeded", "RightsRefused"}
    codes = set()
    for path in (ROOT / "gpu_assistant").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=code), *_]) if name in family:
                    codes.add((path.name, str(code)))
    return codes


def test_every_error_code_has_a_text() -> None:
    raised = raised_codes()
    assert len(raised) > 100
    assert sorted((file, code) for file, code in raised if f"error.{code}" not in TABLE) == []


def test_error_texts_are_one_sentence_with_advice() -> None:
    for code, text in TABLE.items():
        if code.startswith("error."):
            assert len(text["en"]) > 40, code
            assert text["en"].endswith((".", "…", "?", "}")), code
            assert text["zh_CN"].endswith(("。", "…", "？", "}")), code


def test_values_are_formatted_by_name() -> None:
    assert format_size(2_602_775_157) == "2.6 GB"
    assert format_size(0) == "0 B"
    assert format_memory(8_585_740_288) == "8 GB"
    assert format_duration(1, "en") == "1 second"
    assert format_duration(0.44, "en") == "0.4 seconds"
    assert format_duration(125, "zh_CN") == "2 分钟"
    assert format_duration(3900 * 2, "en") == "2 h 10 min"


@pytest.mark.parametrize(("seconds", "text"), [(1, "10 seconds"), (77, "80 seconds"), (268, "4 minutes")])
def test_estimated_duration_is_no_more_exact_than_an_estimate(seconds: float, text: str) -> None:
    assert format_estimated_duration(seconds, "en") == text


def test_none_is_a_dash_and_text_codes_are_translated() -> None:
    texts = Texts("zh_CN")
    assert texts.format_value("free_bytes", None) == "—"
    assert texts.format_value("what", "@cli.none") == "没有找到"
    assert texts.message_text(Message("cli.undo", {"how": "x"})) == "撤销：x"


def test_build_tags_are_translated() -> None:
    data = {"value": "2.13.0+cpu", "expected": "2.13.0+cu126"}
    assert Texts("en").translate("check.torch-variant.fail", data) == (
        "PyTorch 2.13.0 (CPU build) is installed instead of 2.13.0 (CUDA 12.6 build): something replaced it."
    )
    assert Texts("zh_CN").translate("check.torch-variant.pass", data) == "这是所选的版本：2.13.0（CPU 版）。"
    assert "2.13.0（CPU 版）可以" in Texts("zh_CN").translate("check.torch-import.pass", {**data, "seconds": 5})
    done = {"count": 12, "release": "PyTorch 2.13.0+cpu + TensorFlow 2.21.0"}
    assert "+" not in Texts("en").translate("progress.resolved", done)
    assert Texts("en").format_value("value", "/home/mei/2.13.0+cpu") == "/home/mei/2.13.0+cpu"


def test_name_of_a_site_is_capitalized_only_at_a_sentences_start() -> None:
    texts, data = Texts("en"), {"site": "@site.general", "packages": "torchaudio 2.11.0"}
    assert texts.translate("warning.source-without.text", data).startswith("The general package index does not have")
    data = {"site": "@site.unknown", "build": "PyTorch 2.15.0"}
    assert texts.translate("alternative.index-torch.label", data) == "Use PyTorch 2.15.0 from the build's own index"


def test_list_separator_follows_language() -> None:
    for name in ("gpus", "series", "packages"):
        assert Texts("zh_CN").format_value(name, "3.11, 3.12, 3.13") == "3.11、3.12、3.13"
        assert Texts("en").format_value(name, "3.11, 3.12, 3.13") == "3.11, 3.12, 3.13"
    assert Texts("zh_CN").format_value("path", "C:\\a, b") == "C:\\a, b"


def test_days_are_formatted_with_count() -> None:
    assert [Texts("en").format_value("age_days", n) for n in (0, 1, 2)] == ["0 days", "1 day", "2 days"]
    assert Texts("zh_CN").format_value("age_days", 1) == "1 天"


def test_control_characters_are_removed() -> None:
    assert Texts("en").format_value("detail", "\x1b[2Jdone\x07\u202e") == "[2Jdone"
    assert Texts("en").format_value("detail", "two\nlines") == "two\nlines"


def test_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        Texts("en").translate("nothing.like.this")


def test_an_error_of_one_step_does_not_say_that_nothing_was_changed() -> None:
    # Other steps of the same run may have changed something; these come before the first one.
    alone = {"error.declined", "error.stopped", "error.catalog-refused", "error.plan-differs", "error.plan-refused"}
    claims = re.compile(
        r"(nothing|没有|什么都没有?)[^.。；;]*(was changed|改动任何|做任何改动|没有改动|都没有改动)", re.IGNORECASE
    )
    errors = {code: text for code, text in TABLE.items() if ".error." in f".{code}"}
    assert {code for code, text in errors.items() if any(map(claims.search, text.values()))} == alone


@pytest.mark.parametrize(("device", "memory"), [("CPU", "内存"), ("RTX 4060", "显存")])
def test_the_memory_of_a_card_and_of_the_computer_have_their_own_words(device: str, memory: str) -> None:
    check = make_check("memory-test", "pass", device=device, tested_memory_bytes=1 << 28, passes=3)
    text = Texts("zh_CN").check_text(check)
    assert memory in text
    assert ({"内存": "显存", "显存": "内存"}[memory]) not in text
    failed = make_check("memory-test", "fail", device=device, reason="@health.reason.wrong")
    checks = Checks(schema="gpu-assistant/checks/1", verdict="fail", checks=(failed,))
    fix = Texts("en").localize_checks(checks).checks[0].fix
    assert fix is not None
    assert ("have the card replaced" in fix) == (device != "CPU")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_clock_is_written_as_everywhere_in_the_window(language):
    data = {"name": "RTX 4060", "util": 99, "clock": 1650, "most": 2460}
    text = Texts(language).translate("health.clocks-low.evidence", data)
    assert "1,650 MHz" in text
    assert "2,460 MHz" in text
