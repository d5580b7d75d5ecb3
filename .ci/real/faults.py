"""What verify says of libraries with which something is wrong: `faults.py ENVIRONMENT CHECKOUT`.

For an environment with PyTorch's CUDA build, without a card: libcudnn is gone; other copies of every library of
NVIDIA's come first in LD_LIBRARY_PATH; a second package says that libcudnn is its own. Each is put right again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def checks(environment: Path, checkout: Path, **environ: str) -> dict[str, dict[str, Any]]:
    """The checks that matter here, by their names."""
    child = checkout / "gpu_assistant/verify/child.py"
    run = subprocess.run(
        [environment / "bin/python", "-I", child],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=600,
    )
    messages = [json.loads(line) for line in run.stdout.splitlines()]
    return {message["check"]["id"]: message["check"] for message in messages if "check" in message}


def main() -> None:
    """See the module."""
    environment, checkout = Path(sys.argv[1]), Path(sys.argv[2])
    (packages,) = environment.glob("lib/python3*/site-packages")
    cudnn = packages / "nvidia/cudnn/lib/libcudnn.so.9"  # the toolkit has links to it

    whole = checks(environment, checkout)["cuda-libraries"]
    assert whole["state"] == "pass", whole

    aside = cudnn.with_name("aside")
    cudnn.rename(aside)
    try:
        imported = checks(environment, checkout)["torch-import"]
    finally:
        aside.rename(cudnn)
    named = (imported["data"].get("case"), imported["data"].get("library"))
    assert named == ("library-missing", "libcudnn.so.9"), imported

    with TemporaryDirectory(dir=environment.parent) as folder:
        for library in packages.glob("nvidia/**/lib*.so.*"):
            shutil.copyfile(library, Path(folder) / library.name)
        foreign = checks(environment, checkout, LD_LIBRARY_PATH=folder)["cuda-libraries"]

    info = packages / "nvidia_cudnn_cu12-9.13.1.26.dist-info"
    info.mkdir()
    try:
        info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cudnn-cu12\nVersion: 9.13.1.26\n")
        info.joinpath("RECORD").write_text(f"{cudnn.relative_to(packages).as_posix()},,\n")
        shared = checks(environment, checkout)["cuda-libraries"]
    finally:
        shutil.rmtree(info)
    assert (shared["state"], shared["data"].get("library")) == ("warn", "libcudnn.so.9"), shared
    sys.stdout.write(
        f"{whole['value']} libraries; a missing one and one of two packages are named; with other copies first in "
        f"LD_LIBRARY_PATH: {foreign['state']}, {foreign['value']}\n"
    )


if __name__ == "__main__":
    main()
