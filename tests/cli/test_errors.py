"""What the command line says where it does not do what was typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_assistant.cli.commands import COMMANDS
from gpu_assistant.cli.main import run
from gpu_assistant.core.paths import DataDir
from tests.cli.conftest import ROOT

RTX = str(ROOT / "tests/machines/windows11-rtx4060-566.json")


def refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str, language: str = "en", exit_code: int = 2
) -> tuple[str, str]:
    assert run([*arguments, "--lang", language, "--data-dir", str(tmp_path / "data")]) == exit_code
    heard = capsys.readouterr()
    return heard.out, heard.err.strip()


@pytest.mark.parametrize("command", ["recommend", "plan"])
def test_error_is_json_with_json_option(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    out, err = refused(capsys, tmp_path, command, "--machine", RTX, "--pytorch", "9.9", "--json")
    error = json.loads(out)
    assert (error["schema"], error["code"], error["exit"]) == ("gpu-assistant/error/1", "choice-impossible", 2)
    assert error["text"] == err
    assert error["data"]["newest"] in err


@pytest.mark.parametrize("arguments", ["bundle create", "download", "bogus", "install --bogus", ""])
def test_usage_error_is_json_with_json_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str
) -> None:
    out, err = refused(capsys, tmp_path, *arguments.split(), "--json")
    error = json.loads(out)
    assert (error["schema"], error["code"], error["exit"]) == ("gpu-assistant/error/1", "call", 2)
    assert error["text"] == err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "recommend --pytorch 99.0",
            "PyTorch 99.0 does not work on that computer: we know of no such PyTorch release.",
        ),
        (
            "plan --variant cu999",
            "PyTorch cu999 does not work on that computer: no PyTorch release has such a build",
        ),
        ("plan --pytorch 2.15.0 --variant cu118", "PyTorch 2.15.0+cu118 does not work"),
        ("install --dry-run --python 2.7", "Python 2.7 does not work on that computer: no PyTorch release"),
        (
            "plan --goal tensorflow --pytorch 2.14.0",
            "--pytorch has no effect here, because the goal is TensorFlow",
        ),
    ],
)
def test_impossible_choice_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str, expected: str
) -> None:
    _, err = refused(capsys, tmp_path, *arguments.split(), "--machine", RTX)
    assert err.startswith(expected)
    assert "does not work" not in err or err.endswith("choose that, or let GPU Assistant choose.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("bundle foo", "“foo” is not one of create, check. Type “gpu-assistant bundle"),
        ("catalog", "still needed: show|update|check."),
        ("plan --goal fun", "--goal cannot be “fun”; choose one of pytorch, tensorflow, cuda-dev, all."),
        ("plan --resume", "gpu-assistant plan does not know “--resume”. Type “gpu-assistant plan --help”"),
        ("--foo", "gpu-assistant does not know “--foo”. Type “gpu-assistant --help”"),
        ("--json", "--json needs a command"),
        ("health --device nonsense", "--device: it must be cpu, or cuda: followed by the card's number"),
        ("health --device cuda", "--device: it must be cpu, or cuda: followed by the card's number"),
        ("install --limit-rate -5M", "--limit-rate cannot be “-5M”; it cannot be negative."),
        ("install --limit-rate --yes", "--limit-rate needs a value."),
    ],
)
def test_usage_error_quotes_the_argument(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str, expected: str
) -> None:
    _, err = refused(capsys, tmp_path, *arguments.split())
    assert err.startswith("This command cannot be understood: " + expected)


@pytest.mark.parametrize("option", ["--pytorch", "--variant", "--python"])
def test_empty_choice_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    out, err = refused(capsys, tmp_path, "recommend", "--machine", RTX, option, "")
    assert out == ""
    assert f"{option} needs a value" in err


@pytest.mark.parametrize("arguments", [("catalog",), ("bundle",)], ids=" ".join)
def test_chinese_errors_have_no_english(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    run([*arguments, "--lang", "zh_CN", "--data-dir", str(tmp_path / "data")])
    assert "arguments" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (
            {"system": "linux", "arch": "riscv64"},
            "it supports 64-bit CPUs from Intel, AMD and others (x86_64) and 64-bit ARM CPUs (arm64)",
        ),
        ({"system": "linux", "arch": "i686"}, "and 64-bit ARM CPUs (arm64)"),
        ({"system": "freebsd"}, "it supports Windows (windows), Linux (linux) and macOS (darwin)"),
    ],
)
def test_unsupported_system_lists_supported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, system: dict[str, str], expected: str
) -> None:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({"schema": "gpu-assistant/machine/1", "os": system, "gpus": []}), "utf-8")
    _, err = refused(capsys, tmp_path, "recommend", "--machine", str(path), exit_code=1)
    assert expected in err
    _, err = refused(capsys, tmp_path, "plan", "--machine", str(path), language="zh_CN", exit_code=1)
    assert "本程序不支持" in err


def test_catalog_update_takes_no_subject(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, err = refused(capsys, tmp_path, "catalog", "update", "drivers")
    assert "leave drivers out" in err


def test_no_space_after_full_width_stop(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({**json.loads(Path(RTX).read_text("utf-8")), "pending_reboot": True}), "utf-8")
    arguments = ["recommend", "--machine", str(path), "--lang", "zh_CN", "--data-dir", str(tmp_path / "data")]
    assert run(arguments) == 0
    output = capsys.readouterr().out
    assert "  ! " in output
    assert "。 " not in output


@pytest.mark.parametrize("inner", ["", "environments", "cache/x", "journal/x/y", "state", "link/x"])
def test_environment_in_data_dir_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, inner: str) -> None:
    DataDir(tmp_path / "data").claim(tmp_path / "data")
    link = tmp_path / "data" / "link"
    link.symlink_to(tmp_path / "data" / "logs", target_is_directory=True)
    if inner.startswith("link") and link.resolve() == link:
        pytest.skip("this system does not tell where a link leads (Wine)")
    for language, expected in (("en", "GPU Assistant keeps its own files in"), ("zh_CN", "存放自己的文件")):
        _, err = refused(
            capsys, tmp_path, "install", "--dry-run", "--env", str(tmp_path / "data" / inner), language=language
        )
        assert expected in err
    assert DataDir(tmp_path / "data").managed_folder(tmp_path / "data" / "environments" / "pytorch") is None
    assert DataDir(tmp_path / "data").managed_folder(tmp_path / "data" / "mine") is None


@pytest.mark.parametrize("given", ["3", "/bin/sh", "python3.12", "3."])
def test_python_option_takes_minor_version(capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str) -> None:
    _, err = refused(capsys, tmp_path, "plan", "--machine", RTX, "--python", given)
    assert "write it like 3.12" in err
    assert given in err


def test_folder_as_machine_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, err = refused(capsys, tmp_path, "plan", "--machine", str(tmp_path))
    assert "is a folder, but a file is needed" in err


@pytest.mark.parametrize("inner", ["", "/below"])
def test_file_as_data_dir_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, inner: str) -> None:
    (tmp_path / "data").write_text("mine", encoding="utf-8")
    assert run(["install", "--yes", "--lang", "en", "--data-dir", f"{tmp_path / 'data'}{inner}"]) == 2
    err = capsys.readouterr().err
    assert "--data-dir" in err
    assert "--env" not in err


def test_bundle_help_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["bundle", "--help", "--lang", "en"])
    output = " ".join(capsys.readouterr().out.split())
    assert "make it for the machine in this JSON file" in output
    assert "nothing is executed" not in output


@pytest.mark.parametrize(
    ("machine", "goal", "expected"),
    [
        ("ubuntu-h100", "all", "at least"),
        ("linux-cpu-only", "pytorch", "about"),
        ("windows11-rtx4060-nodriver", "cuda-dev", "at least"),
        ("windows11-rtx4060-nodriver", "all", "at least"),
    ],
)
def test_time_is_lower_bound_with_unknown_size(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, machine: str, goal: str, expected: str
) -> None:
    arguments = [
        "plan",
        "--machine",
        str(ROOT / f"tests/machines/{machine}.json"),
        "--goal",
        goal,
        "--data-dir",
        str(tmp_path / "data"),
    ]
    assert run(arguments) == 0
    [time] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Time: ")]
    assert time.startswith(f"Time: {expected} ")


def test_minutes_are_lower_bound_with_unknown_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    machine = str(ROOT / "tests/machines/windows11-rtx4060-nodriver.json")
    for goal, least in (("all", True), ("cuda-dev", False)):
        assert run(["plan", "--machine", machine, "--goal", goal, "--lang", "en", "--data-dir", str(tmp_path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        (fetching,) = (line for line in lines if line.startswith("4. Download"))
        (making,) = (line for line in lines if line.startswith("5. Install PyTorch"))
        assert "at least " not in fetching  # how much both download was measured; how long TensorFlow unpacks was not
        assert making.count("at least ") == (1 if least else 0)


@pytest.mark.parametrize(
    "arguments",
    [
        "install --resume --yes",
        "install --plan {tmp}/none.json --yes",
        "install --dry-run --pytorch 1.0",
        "uninstall --keep-environments",
        "uninstall --yes --env {tmp}/none",
        "download ftp://example.org/x -o {tmp}/x",
        "bundle create {tmp}/bundle --environment conda",
        "bundle check {tmp}/none",
    ],
)
def test_event_commands_always_end_with_end_event(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str
) -> None:
    run([*arguments.format(tmp=tmp_path).split(), "--json", "--lang", "en", "--data-dir", str(tmp_path / "data")])
    heard = capsys.readouterr()
    events = [json.loads(line) for line in heard.out.splitlines()]
    assert [event["event"] for event in events].count("end") == 1
    last = events[-1]
    assert (last["event"], last["state"]) == ("end", "failed")
    assert last["code"].startswith("error.")
    assert last["message"] == heard.err.strip()


@pytest.mark.parametrize(
    "arguments", ["health --level 2", "use", "verify", "bench", "catalog check {tmp}/none", "catalog show none"]
)
def test_single_result_commands_print_one_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str
) -> None:
    run([*arguments.format(tmp=tmp_path).split(), "--json", "--lang", "en", "--data-dir", str(tmp_path / "data")])
    heard = capsys.readouterr()
    error = json.loads(heard.out)
    assert (error["schema"], error["text"]) == ("gpu-assistant/error/1", heard.err.strip())


@pytest.mark.parametrize("inner", ["Downlods", "none/below", "file.txt"])
def test_download_creates_no_folders(capsys: pytest.CaptureFixture[str], tmp_path: Path, inner: str) -> None:
    (tmp_path / "file.txt").write_text("mine", encoding="utf-8")
    arguments = ("download", "http://127.0.0.1:9/x", "-o", str(tmp_path / inner / "x.bin"))
    for language in ("en", "zh_CN"):
        _, err = refused(capsys, tmp_path, *arguments, language=language)
        assert str(tmp_path / inner) in err
    assert {path.name for path in tmp_path.iterdir()} <= {"data", "file.txt"}


@pytest.mark.parametrize(
    ("arguments", "last"), [("bench --history", "code"), ("verify --env x", "code"), ("install", "state")]
)
def test_internal_error_is_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, last: str
) -> None:
    def breaks(*_: object) -> int:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setitem(COMMANDS, arguments.partition(" ")[0], breaks)
    out, err = refused(capsys, tmp_path, *arguments.split(), "--json", exit_code=1)
    error = json.loads(out)
    assert error["code"] == "error.internal" if last == "state" else error["code"] == "internal"
    assert last in error
    assert "ZeroDivisionError: by nothing" in err


@pytest.mark.parametrize("arguments", ["bench --env x", "health"])
def test_device_number_is_ascii_digits(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str) -> None:
    _, err = refused(capsys, tmp_path, *arguments.split(), "--device", "cuda:\u0663")
    assert "--device" in err
