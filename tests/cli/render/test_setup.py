"""What `recommend` and `detect` print for people."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.cli.main import run
from gpu_assistant.cli.output import Output
from gpu_assistant.cli.render.setup import render_missing_driver
from gpu_assistant.install.bundle.missing_driver import MissingDriver
from gpu_assistant.texts.localized import Texts
from tests.cli.conftest import ROOT

RTX = ROOT / "tests/machines/windows11-rtx4060-566.json"
WINDOWS: dict[str, Any] = {"schema": "gpu-assistant/machine/1", "os": {"system": "windows", "arch": "x86_64"}}


def printed(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str, language: str = "en") -> str:
    assert run([*arguments, "--lang", language, "--data-dir", str(tmp_path / "data")]) == 0
    return capsys.readouterr().out


def machine(tmp_path: Path, **fields: object) -> str:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(WINDOWS | fields), encoding="utf-8")
    return str(path)


def test_reasons_have_sources(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = printed(capsys, tmp_path, "recommend", "--why", "--machine", str(RTX))
    as_json = json.loads(printed(capsys, tmp_path, "recommend", "--json", "--machine", str(RTX)))
    named = dict(re.findall(r"^\[(\d+)\] (https://\S+)$", output, re.MULTILINE))
    for reason in as_json["reasons"]:
        line = next(line for line in output.splitlines() if reason["text"] in line)
        mark = re.search(r" \[(\d+)\]$", line)
        assert (named[mark[1]] if mark else None) == reason["source"]
    assert list(named) == [str(number + 1) for number in range(len(named))]
    assert len(set(named.values())) == len(named)


@pytest.mark.parametrize(
    ("distribution", "where"),
    [
        ("nixos", "as this page explains, and restart: https://wiki.nixos.org/"),
        ("fedora", "as GPU Assistant explains there."),  # which has the commands
    ],
)
def test_bundle_names_the_driver_that_it_lacks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, distribution: str, where: str
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    os = {"system": "linux", "arch": "x86_64", "distro": distribution, "distro_version": "43", "glibc": "2.42"}
    gpus = json.loads(RTX.read_text(encoding="utf-8"))["gpus"]
    path = machine(tmp_path, os=os, gpus=gpus)
    arguments = ["bundle", "create", str(tmp_path / "stick"), "--dry-run", "--machine", path]
    assert run([*arguments, "--data-dir", str(tmp_path / "data")]) == 0
    printed_text = "".join(capsys.readouterr())
    assert "Not included: the NVIDIA driver." in printed_text
    assert where in printed_text


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize(
    ("driver", "named"),
    [
        (None, ()),
        (MissingDriver(source="packages"), ()),  # what was left out says so
        (MissingDriver(source="file", version="617.42", url="https://example.org/a.exe"), ("617.42", "/a.exe")),
        (MissingDriver(source="file", url="https://example.org/b"), ("example.org/b",)),
        (MissingDriver(source="page", url="https://example.org/c"), ("example.org/c",)),
        (MissingDriver(source="guided"), ("GPU",)),
    ],
)
def test_each_source_of_a_missing_driver_has_words(
    capsys: pytest.CaptureFixture[str], language: str, driver: MissingDriver | None, named: tuple[str, ...]
) -> None:
    render_missing_driver(driver, Output(Texts(language), json=False, quiet=False))
    note = "".join(capsys.readouterr())
    assert [text for text in named if text not in note] == []
    assert bool(note) == bool(named)


@pytest.mark.parametrize("goal", ["pytorch", "tensorflow", "cuda-dev", "all"])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_three_reasons_at_most_without_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, goal: str, language: str
) -> None:
    for path in (RTX, ROOT / "tests/machines/linux-cpu-only.json", ROOT / "tests/machines/windows10-gtx1060.json"):
        arguments = ("recommend", "--machine", str(path), "--goal", goal)
        short, whole = (printed(capsys, tmp_path, *arguments, *why, language=language) for why in ((), ("--why",)))
        reasons = [line for line in short.splitlines() if line.startswith("  • ")]
        assert 2 <= len(reasons) <= 3 < whole.count("  • ")
        assert "https://" not in "".join(reasons)
        assert "--why" in short
        for line in reasons:
            # Terms of the field stand behind --why.
            assert not re.search(r"compute capability|计算能力|PTX|wheel|glibc", line)


@pytest.mark.parametrize(
    ("way", "marks"),
    [
        ((), ["  * Newest", "    Keep my driver"]),
        (("--way", "newest"), ["  * Newest", "    Keep my driver"]),
        (("--way", "works-now"), ["    Newest", "  * Keep my driver"]),
    ],
)
def test_both_ways_are_shown_with_cost(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, way: tuple[str, ...], marks: list[str]
) -> None:
    lines = printed(capsys, tmp_path, "recommend", "--machine", str(RTX), *way).splitlines()
    shown = [line for line in lines if "PyTorch" in line and ":" in line]
    assert [line.split(":")[0] for line in shown] == marks
    costs = [lines[lines.index(line) + 1] for line in shown]
    assert costs[0].endswith("1 administrator prompt · 1 restart")
    assert costs[1].endswith("No administrator prompt · No restart")


@pytest.mark.parametrize(("way", "version"), [("newest", "2.15.0"), ("works-now", "2.14.1")])
def test_plan_takes_the_way(capsys: pytest.CaptureFixture[str], tmp_path: Path, way: str, version: str) -> None:
    output = printed(capsys, tmp_path, "plan", "--machine", str(RTX), "--way", way)
    assert f"Install PyTorch {version}" in output
    assert ("NVIDIA driver 617.42" in output) == (way == "newest")
    assert output.count("Another way: ") == 1


def test_catalog_age_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    as_json = json.loads(printed(capsys, tmp_path, "recommend", "--json", "--machine", str(RTX)))
    for language, pattern in (("en", r"{}, \d+ days? ago"), ("zh_CN", r"{}（\d+ 天前）")):
        output = printed(capsys, tmp_path, "recommend", "--machine", str(RTX), language=language)
        assert re.search(pattern.format(as_json["catalog_date"]), output.splitlines()[-1])


OTHERS = {
    "amd": {"vendor": "amd", "name": "AMD Radeon RX 7900 XTX", "gfx": "gfx1100"},
    "intel": {"vendor": "intel", "name": "Intel Arc B580 Graphics"},
    "apple": {"vendor": "apple", "name": "Apple M3"},
}


@pytest.mark.parametrize("vendor", OTHERS)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_nvidia_rows_without_nvidia(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, vendor: str, language: str
) -> None:
    system = {"system": "darwin", "arch": "arm64"} if vendor == "apple" else WINDOWS["os"]
    file = machine(tmp_path, os=system, gpus=[OTHERS[vendor]])
    for command in ("recommend", "detect"):
        output = printed(capsys, tmp_path, command, "--machine", file, language=language)
        rows = [line for line in output.splitlines() if not line.startswith(("  ", "["))]
        assert not [row for row in rows if re.match(r"NVIDIA|CUDA|cuDNN", row)]
    output = printed(capsys, tmp_path, "recommend", "--machine", file, language=language)
    assert "cuDNN" not in output
    assert "CUDA Toolkit" not in output


@pytest.mark.parametrize("goal", ["cuda-dev", "all"])
def test_missing_toolkit_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path, goal: str) -> None:
    arguments = ("recommend", "--goal", goal, "--machine", machine(tmp_path, gpus=[OTHERS["intel"]]))
    as_json = json.loads(printed(capsys, tmp_path, *arguments, "--json"))
    (why,) = [reason["text"] for reason in as_json["reasons"] if reason["code"] == "toolkit-no-card"]
    output = printed(capsys, tmp_path, *arguments)
    assert why in output
    assert "cuDNN" not in output


def test_unknown_toolkit_is_not_called_unneeded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    newer = {"vendor": "nvidia", "name": "NVIDIA GeForce RTX 7090", "compute_capability": "13.0"}
    file = machine(tmp_path, gpus=[newer], driver={"version": "617.42"})
    row = {
        goal: re.findall(
            r"^CUDA Toolkit +(.*)$",
            printed(capsys, tmp_path, "recommend", "--goal", goal, "--machine", file),
            re.MULTILINE,
        )
        for goal in ("pytorch", "cuda-dev")
    }
    assert row == {"pytorch": ["not needed separately"], "cuda-dev": ["none that we know of for that computer"]}


def test_nvidia_shows_all_parts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = printed(capsys, tmp_path, "recommend", "--machine", str(RTX))
    assert all(re.search(f"^{row} ", output, re.MULTILINE) for row in ("NVIDIA driver", "CUDA Toolkit", "cuDNN"))


def test_detect_shows_everything_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = machine(
        tmp_path,
        gpus=[{"vendor": "nvidia", "name": "NVIDIA GeForce RTX 4060", "compute_capability": "8.9"}],
        driver={"version": "566.03"},
        cuda_toolkits=[{"version": "12.6.3", "path": "C:\\CUDA"}, {"path": "C:\\Broken"}],
        cudnn=[{"version": "9.6.0", "path": "C:\\cudnn"}],
        tools={"vc_redist": "14.42", "git": "2.47.0"},
        pythons=[
            {
                "path": "C:\\py.exe",
                "version": "3.12.7",
                "tensorflow": "2.10.1",
                "torch": {"version": "2.9.1", "error": "x"},
            }
        ],
        disks=[{"path": "D:\\"}],
        network={"proxy": "http://proxy:8080"},
        user={"ascii": False, "home_too_long": True, "onedrive": ["C:\\OneDrive\\Documents"]},
        laptop=True,
        virtual_machine=True,
        remote_desktop=True,
        pending_reboot=True,
        notes=[{"probe": "disks", "code": "detect.disks.partly", "detail": "D:"}, {"probe": "moon", "code": "moon"}],
    )
    output = printed(capsys, tmp_path, "detect", "--machine", file)
    for text in (
        "compute capability 8.9", "566.03", "12.6.3  C:\\CUDA", "version unknown  C:\\Broken", "9.6.0  C:\\cudnn",
        "Visual C++ 14.42", "git 2.47.0", "(TensorFlow 2.10.1)", "does not start", "D:\\  size unknown", "proxy:8080",
        "non-English characters", "--data-dir", "C:\\OneDrive\\Documents", "keep it plugged in", "virtual machine",
        "remote desktop", "That computer needs a restart", "Some disks did not answer", "moon: this could not be read",
    ):  # fmt: skip
        assert text in output, text
    assert "—" not in output
    assert "None" not in output


def test_detect_omits_unknown_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = printed(capsys, tmp_path, "detect", "--machine", machine(tmp_path, gpus=[{"vendor": "other"}], cpu={}))
    assert output.splitlines() == ["Graphics card  name unknown", "System         Windows · x86_64"]


def test_help_lists_every_goal(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("en", "zh_CN"):
        with pytest.raises(SystemExit) as ended:
            run(["recommend", "--help", "--lang", language])
        assert ended.value.code == 0
        output = re.sub(r"\s+", " ", capsys.readouterr().out).partition("--goal {")[2].partition("}")[2]
        assert all(goal in output for goal in ("pytorch", "tensorflow", "cuda-dev", "all"))
        assert "so far" not in output


@pytest.mark.parametrize(
    ("card", "driver", "expected"),
    [
        ({"name": "NVIDIA H100 80GB HBM3", "pci_id": "10de:2330"}, {"version": "461.92"}, "update to 596.86"),
        ({"name": "NVIDIA H100 80GB HBM3", "pci_id": "10de:2330"}, None, "install 596.86"),
        ({"name": "NVIDIA GeForce GTX 1080", "pci_id": "10de:1b80"}, {"version": "591.44"}, "go back to 582.78"),
    ],
)
def test_driver_row_is_never_a_dash(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    card: dict[str, str],
    driver: dict[str, str] | None,
    expected: str,
) -> None:
    path = machine(tmp_path, gpus=[{"vendor": "nvidia", **card}], driver=driver)
    line = next(x for x in printed(capsys, tmp_path, "recommend", "--machine", path).splitlines() if expected in x)
    assert line.endswith(expected)
