"""What verify says of drivers and libraries with which something is wrong.

`faults.py MODULE ENVIRONMENT CHECKOUT DRIVERS`: for an environment with the CUDA build of torch or tensorflow, and no
card. DRIVERS has a folder for each of NVIDIA's real drivers, with its libcuda.so.1: "470" (CUDA 11.4) and "535" (12.2).
The driver is none, too old, new enough without a card. For torch besides: a program that nvcc compiled meets the same
drivers; libcudnn is gone; other copies of NVIDIA's libraries (of less than 100 MB each) come first in LD_LIBRARY_PATH,
where torch's own path goes first, or another libcudnn is loaded before all else; a second package says that libcudnn is
its own. Each is put right again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DRIVERS = {"470": 11040, "535": 12020}
# Each framework's check of the card: its child program, the CUDA that it was built for, and the reasons for no driver,
# one that is too old, and one that finds no card.
FRAMEWORKS = {
    "torch": ("child.py", "torch-cuda", 13, "driver-too-old", "no-device"),
    "tensorflow": (
        "child_tensorflow.py",
        "tensorflow-devices",
        12,
        "driver-too-old-tensorflow",
        "tensorflow-no-device",
    ),
}
NAME = "@verify.reason."
COPIED_BYTES = 100_000_000


def checks(environment: Path, child: Path, *options: str, **environ: str) -> dict[str, dict[str, Any]]:
    """The checks that matter here, by their names."""
    run = subprocess.run(
        [environment / "bin/python", "-I", child, *options],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=600,
    )
    messages = [json.loads(line) for line in run.stdout.splitlines()]
    return {message["check"]["id"]: message["check"] for message in messages if "check" in message}


def check_drivers(module: str, environment: Path, verify: Path, drivers: Path) -> str:
    """What the framework's check says beside each driver."""
    file, check_id, cuda, too_old, no_device = FRAMEWORKS[module]
    options = ("--gpu",) if module == "tensorflow" else ()
    expected = {"none": "no-driver"}
    for name, version in DRIVERS.items():
        asked = (
            f"import ctypes; driver = ctypes.CDLL({str(drivers / name / 'libcuda.so.1')!r}); number = ctypes.c_int()\n"
        )
        asked += "print(driver.cuInit(0), driver.cuDriverGetVersion(ctypes.byref(number)), number.value)"
        answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
        assert answer.split() == ["100", "0", str(version)], (name, answer)
        expected[name] = too_old if version // 1000 < cuda else no_device
    for name, reason in expected.items():
        found = checks(environment, verify / file, *options, LD_LIBRARY_PATH=str(drivers / name))[check_id]
        assert (found["state"], found["data"]["reason"]) == ("fail", NAME + reason), (name, found)
    return ", ".join(f"{name}: {reason}" for name, reason in expected.items())


def check_program(environment: Path, checkout: Path, drivers: Path) -> str:
    """What the proof of the toolkit says of a program that it compiled, beside each driver."""
    sys.path.insert(0, str(checkout))
    from gpu_assistant.core.results import Check
    from gpu_assistant.system import current_system
    from gpu_assistant.verify.cuda_program import ToolkitProof, prove_toolkit

    (toolkit,) = environment.glob("lib/python3*/site-packages/nvidia/cu13")
    expected = {"none": "no-driver", "470": "driver-too-old-toolkit", "535": "driver-too-old-toolkit"}
    for name, reason in expected.items():
        found: list[Check] = []
        os.environ["LD_LIBRARY_PATH"] = str(drivers / name)
        prove_toolkit(
            ToolkitProof(folder=toolkit),
            ("8.9",),
            current_system(),
            cancel=threading.Event(),
            report=found.append,
            log=lambda _line: None,
        )
        del os.environ["LD_LIBRARY_PATH"]
        assert (found[-1].id, found[-1].data["reason"]) == ("cuda-run", NAME + reason), (name, found[-1])
    return ", ".join(f"{name}: {reason}" for name, reason in expected.items())


def check_libraries(environment: Path, child: Path) -> str:
    """What the checks say of libraries that are missing, others' or shared."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    cudnn = packages / "nvidia/cudnn/lib/libcudnn.so.9"  # the toolkit has links to it

    whole = checks(environment, child)["cuda-libraries"]
    assert whole["state"] == "pass", whole

    aside = cudnn.with_name("aside")
    cudnn.rename(aside)
    try:
        imported = checks(environment, child)["torch-import"]
    finally:
        aside.rename(cudnn)
    named = (imported["data"].get("case"), imported["data"].get("library"))
    assert named == ("library-missing", "libcudnn.so.9"), imported

    with TemporaryDirectory(dir=environment.parent) as folder:
        for library in packages.glob("nvidia/**/lib*.so.*"):
            if library.stat().st_size < COPIED_BYTES:
                shutil.copyfile(library, Path(folder) / library.name)
        unused = checks(environment, child, LD_LIBRARY_PATH=folder)["cuda-libraries"]
        other = str(Path(folder) / cudnn.name)
        foreign = checks(environment, child, LD_PRELOAD=other)["cuda-libraries"]
    assert (unused["state"], unused["value"]) == ("pass", whole["value"]), unused
    assert (foreign["state"], foreign["value"]) == ("warn", other), foreign

    info = packages / "nvidia_cudnn_cu12-9.13.1.26.dist-info"
    info.mkdir()
    try:
        info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cudnn-cu12\nVersion: 9.13.1.26\n")
        info.joinpath("RECORD").write_text(f"{cudnn.relative_to(packages).as_posix()},,\n")
        shared = checks(environment, child)["cuda-libraries"]
    finally:
        shutil.rmtree(info)
    assert (shared["state"], shared["data"].get("library")) == ("warn", "libcudnn.so.9"), shared
    return f"{whole['value']} libraries; a missing one, a foreign one in use and one of two packages are named"


def main() -> None:
    """See the module."""
    module, environment, checkout, drivers = sys.argv[1], *map(Path, sys.argv[2:])
    verify = checkout / "gpu_assistant/verify"
    sys.stdout.write(f"drivers: {check_drivers(module, environment, verify, drivers)}\n")
    if module == "torch":
        sys.stdout.write(f"a compiled program: {check_program(environment, checkout, drivers)}\n")
        sys.stdout.write(check_libraries(environment, verify / "child.py") + "\n")


if __name__ == "__main__":
    main()
