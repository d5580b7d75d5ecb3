"""`fit` and `example`, each as a process: JSON by its schema, texts in both languages, refusals in one sentence."""

from __future__ import annotations

import json

import pytest
from jsonschema import validate

from gpu_assistant.core.paths import resources_dir

from .conftest import Call, one_sentence

RTX_4060 = "tests/machines/windows11-rtx4060-566.json"


def test_fit_prints_its_schema(call: Call):
    done = call("fit", "--machine", RTX_4060, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    schema = json.loads((resources_dir() / "schemas" / "fit.schema.json").read_text(encoding="utf-8"))
    validate(document, schema)
    assert document["device"] == "NVIDIA GeForce RTX 4060"
    assert document["spills"] is True
    assert document["measured"] is None
    assert {each["kind"] for each in document["models"]} == {"language", "image", "training"}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("8 GB", "4-bit: 5.6 GB, fits, up to 4,000 tokens", "Prefer No Sysmem Fallback")),
        ("zh_CN", ("4 位：", "装不下")),
    ],
)
def test_fit_is_said_in_both_languages(call: Call, language, words):
    done = call("fit", "--machine", RTX_4060, "--lang", language)
    assert done.returncode == 0
    for word in words:
        assert word in done.stdout
    if language == "en":  # within the error, but more than the 6.8 GB that can be used: no promise
        assert "16-bit: 6.9 GB, may just fit\n" in done.stdout
        assert "16-bit: 3.0 GB, fits" in done.stdout


def test_fit_of_one_model_and_of_an_unknown_one(call: Call):
    document = json.loads(call("fit", "--machine", RTX_4060, "--model", "sdxl", "--json").stdout)
    assert {each["id"] for each in document["models"]} == {"sdxl"}
    refused = call("fit", "--machine", RTX_4060, "--model", "gpt-9")
    assert refused.returncode == 2
    assert one_sentence(refused.stderr)


def test_what_cannot_be_measured_is_refused(call: Call):
    refused = call("fit", "--machine", RTX_4060, "--model", "sdxl", "--measure")
    assert refused.returncode == 2
    assert "resnet50" in refused.stderr
    simulated = call("fit", "--machine", RTX_4060, "--measure")
    assert simulated.returncode == 2
    assert one_sentence(simulated.stderr)


@pytest.mark.parametrize("name", ["program.py", "program.ipynb"])
def test_example_is_saved_in_the_language(call: Call, tmp_path, name):
    target = tmp_path / name
    done = call("example", "first-program", "--save", str(target), "--lang", "zh_CN")
    assert (done.returncode, str(target) in done.stdout) == (0, True)
    assert "小神经网络" in target.read_text(encoding="utf-8")
    target.write_text("my own", encoding="utf-8")
    refused = call("example", "first-program", "--save", str(target))
    assert refused.returncode == 2
    assert target.read_text(encoding="utf-8") == "my own"


def test_example_without_an_environment_says_what_to_do(call: Call):
    done = call("example", "first-program", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "environment-missing"
    refused = call("example", "picture-sorter", "--pictures", "nowhere", "--json")
    assert json.loads(refused.stdout)["schema"] == "gpu-assistant/error/1"
