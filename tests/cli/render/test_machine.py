"""What `detect` prints of a machine's surroundings, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.cli.main import run

ADVICE = Path(__file__).resolve().parents[2] / "machines/advice"


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("container-docker-driver-550", "This is a container (Docker)", "这是一个容器（Docker）"),
        ("container-kubernetes-driver-470", "This is a container (Kubernetes)", "这是一个容器（Kubernetes）"),
        ("azure-vm-secure-boot", "rented computer (Microsoft Azure)", "云主机（Microsoft Azure）"),
        ("fedora43-silverblue", "updated as a whole image", "整体更新"),
        ("vgpu-guest-name-only", "is a virtual GPU (vGPU)", "是虚拟显卡（vGPU）"),
        ("mig-a100", "is split into instances (MIG)", "已划分成多个实例（MIG）"),
    ],
)
def test_surroundings_are_told(
    name: str, english: str, chinese: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for language, expected in (("en", english), ("zh_CN", chinese)):
        call = ["detect", "--machine", str(ADVICE / f"{name}.json"), "--lang", language, "--data-dir", str(tmp_path)]
        assert run(call) == 0
        assert expected in capsys.readouterr().out


@pytest.mark.parametrize("name", ["host-driver-550", "fedora43-workstation", "a100-not-divided"])
def test_ordinary_machine_is_told_nothing_of_the_kind(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["detect", "--machine", str(ADVICE / f"{name}.json"), "--lang", "en", "--data-dir", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert not [word for word in ("container", "rented", "whole image", "vGPU", "MIG") if word in output]
