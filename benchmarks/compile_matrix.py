"""Which GNU compilers and glibc NVIDIA's toolkits really compile with: a kernel for each of them, in disposable roots.

    python benchmarks/compile_matrix.py [--suites bookworm trixie sid] [--toolkits 12.9.1 13.2.2 …] [--output FILE]

As root on Debian, x86_64; 13 minutes on two busy cores. The toolkits, packages of the general Python index, stay, as do
the compilers' packages, in ~/.cache/gpu-assistant-real-parts/compile-matrix (GPU_ASSISTANT_REAL_PARTS); the roots go.

From 13.0 on nvcc compiles a kernel for sm_89, links it with the runtime and runs it, up to the driver's word. Before
that the packages have no nvcc. The compiler reads their headers as in nvcc's first pass (crt/host_config.h refuses
compilers), then once more as C++98, where g++ finds what nvcc's own parser finds: two declarations of one function that
differ in their exception specification. A program with the runtime's calls is compiled, linked and run.

Exit status: 0 where every result is what the catalog says, 1 where one is not, 75 where nothing could be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.versions import Version

CHECKOUT = Path(__file__).resolve().parents[1]
SUITES = ("bookworm", "trixie", "sid")
TOOLKITS = ("12.4.1", "12.6.3", "12.8.1", "12.9.1", "13.0.2", "13.2.2", "13.4.3", "13.5.0")
FIRST_WITH_NVCC = 13
NEEDED_BYTES = 8 << 30
NOT_TRIED = 75
KERNEL = """\
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
#ifdef __CUDACC__
__global__ void add(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = rsqrtf(x[i]) + sinpif(x[i]);
}
#else
#include <cuda_runtime.h>
#endif
int main()
{
    std::vector<float> values(4, 4.0f);
    float *memory = nullptr;
    int driver = -1;
    cudaError_t status = cudaDriverGetVersion(&driver);
    if (cudaMalloc(&memory, 16) == cudaSuccess) {
#ifdef __CUDACC__
        add<<<1, 4>>>(memory, 4);
#endif
        cudaDeviceSynchronize();
    }
    float most = std::sqrt(*std::max_element(values.begin(), values.end()));
    std::printf("ran %d %s %g\\n", driver, cudaGetErrorString(status), most);
}
"""
# In a root: TOOLKIT (its folder), MAJOR, MINOR, GCC (a major). Prints "glibc …", "gcc …", and "ran …" if all went well.
COMPILE = r"""
set -eu
cd "$(mktemp -d)"
ldd --version | sed -n '1s/.* /glibc /p'
echo "gcc $(g++-$GCC -dumpfullversion)"
if [ "$MAJOR" -ge 13 ]; then
    root=$TOOLKIT/nvidia/cu$MAJOR
    "$root/bin/nvcc" -ccbin "g++-$GCC" -arch=sm_89 -L "$root/lib" -o program /matrix/kernel.cu
else
    root=$TOOLKIT/nvidia
    include="-I$root/cuda_runtime/include -I$root/cuda_nvcc/include -I$root/cuda_cccl/include"
    nvcc="-x c++ -D__CUDACC__ -D__NVCC__"
    nvcc="$nvcc -D__CUDACC_VER_MAJOR__=$MAJOR -D__CUDACC_VER_MINOR__=$MINOR -D__CUDACC_VER_BUILD__=1"
    : >empty.cpp
    g++-$GCC $nvcc $include -E -include cuda_runtime.h -o preprocessed.cpp empty.cpp
    g++-$GCC $nvcc $include -std=gnu++98 -w -fsyntax-only -include cuda_runtime.h empty.cpp
    cp /matrix/kernel.cu program.cpp
    g++-$GCC -std=c++17 $include -o program program.cpp -L "$root/cuda_runtime/lib" -l:libcudart.so.12 \
        -Wl,-rpath,"$root/cuda_runtime/lib"
fi
./program
"""


def main() -> int:
    """Run the matrix and print it as a table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--suites", nargs="+", default=SUITES, choices=SUITES)
    parser.add_argument("--toolkits", nargs="+", default=TOOLKITS)
    parser.add_argument("--output", metavar="FILE", type=Path, help="the results as JSON")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("apt-get") is None or os.uname().machine != "x86_64":
        print("that takes root, Debian and x86_64")
        return NOT_TRIED
    store = Path(os.environ.get("GPU_ASSISTANT_REAL_PARTS") or _cache() / "gpu-assistant-real-parts") / "compile-matrix"
    store.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(store).free < NEEDED_BYTES:
        print("that takes 8 GB of free disk")
        return NOT_TRIED
    toolkits = {
        version: folder for version in arguments.toolkits if (folder := fetch_toolkit(store, version)) is not None
    }
    rows: list[dict[str, Any]] = []
    for suite in arguments.suites:
        parent = os.environ.get("TMPDIR") or "/var/tmp"  # tempfile's own is often too small
        with tempfile.TemporaryDirectory(prefix=f"compile-matrix-{suite}-", dir=parent) as scratch:
            for row in measure(suite, Path(scratch), store, toolkits):
                rows.append(row)
                print(*row.values(), flush=True)
    document = {"date": datetime.now(UTC).date().isoformat(), "rows": rows}
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if not rows:  # what was said last says why
        return NOT_TRIED
    different = list(contradictions(rows))
    print(table(rows), *different, sep="\n")
    return 1 if different else 0


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def fetch_toolkit(store: Path, version: str) -> Path | None:
    """The folder of a toolkit's compiler, headers and runtime; None where the index has none."""
    import uv

    folder = store / "toolkits" / version
    if folder.is_dir():
        return folder
    parts = (
        "nvcc,crt,nvvm,cccl,cudart" if int(version.split(".", maxsplit=1)[0]) >= FIRST_WITH_NVCC else "nvcc,cccl,cudart"
    )
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = [uv.find_uv_bin(), "pip", "install", "--no-config", "--quiet", "--python", sys.executable]
    command += ["--target", str(partial), "--cache-dir", str(store / "uv"), "--only-binary", ":all:"]
    finished = subprocess.run([*command, f"cuda-toolkit[{parts}]=={version}"], check=False)
    if finished.returncode:
        print(f"toolkit {version} cannot be had")
        return None
    partial.rename(folder)
    return folder


def measure(suite: str, scratch: Path, store: Path, toolkits: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """A row for each toolkit and each GNU compiler of a Debian suite; none where its packages cannot be had."""
    root = scratch / "root"
    archives, matrix = store / f"archives-{suite}", scratch / "matrix"
    archives.mkdir(exist_ok=True)
    matrix.mkdir()
    (matrix / "kernel.cu").write_text(KERNEL, encoding="utf-8")
    made = subprocess.run([CHECKOUT / ".ci" / "debian-root", suite, root], check=False)
    if made.returncode == NOT_TRIED:  # its last line says why
        return
    made.check_returncode()

    def enter(*command: str) -> subprocess.CompletedProcess[str]:
        binds: list[str | Path] = ["--bind", archives, "/var/cache/apt/archives", "--bind", matrix, "/matrix"]
        binds += ["--bind", store / "toolkits", "/toolkits"]
        return subprocess.run(
            [CHECKOUT / ".ci" / "real" / "enter", root, *binds, *command],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    listed = enter("sh", "-c", "apt-get -qq update && apt-cache pkgnames g++-")
    compilers = sorted(int(match[1]) for match in re.finditer(r"^g\+\+-(\d+)$", listed.stdout, re.MULTILINE))
    names = [f"g++-{major}" for major in compilers]
    options = ("-o", "APT::Keep-Downloaded-Packages=true", "-o", "APT::Sandbox::User=root")
    installed = enter("apt-get", "-y", "-qq", "--no-install-recommends", *options, "install", *names)
    if not compilers or installed.returncode:
        print(f"{suite}: the compilers cannot be had: {(installed.stdout or listed.stdout).splitlines()[-1:]}")
        return
    for version in toolkits:
        major, minor = version.split(".")[:2]
        for gcc in compilers:
            environ = (f"TOOLKIT=/toolkits/{version}", f"MAJOR={major}", f"MINOR={minor}", f"GCC={gcc}")
            finished = enter("env", *environ, "sh", "-c", COMPILE)
            yield {"toolkit": version, "suite": suite, **read_result(finished.returncode, finished.stdout)}


def read_result(status: int, output: str) -> dict[str, Any]:
    """glibc, compiler, and what came of it: "compiles", "refused" by the toolkit, "clash" with glibc, else "fails"."""
    said = {
        name: match[1] for name in ("glibc", "gcc") if (match := re.search(rf"^{name} (\S+)$", output, re.MULTILINE))
    }
    errors = [line for line in output.splitlines() if "error" in line.lower()]
    if status == 0 and "\nran " in output:
        state = "compiles"
    elif "unsupported GNU version" in output:
        state = "refused"
    elif "exception specif" in output:
        state = "clash"
    else:
        state = "fails"
    return {**said, "state": state, "error": errors[0][-200:] if errors and state != "compiles" else None}


def contradictions(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What came out otherwise than the catalog's compilers and glibc versions say."""
    cuda = load_catalog(resources_dir() / "catalog").cuda
    for row in rows:
        toolkit, glibc, gcc = (Version(row[name]) for name in ("toolkit", "glibc", "gcc"))
        newest = cuda.newest_gnu(toolkit)
        fails_from = next((each.fails_from for each in cuda.glibc_conflicts if toolkit >= each.from_toolkit), None)
        expected = "compiles"
        if newest is not None and gcc.major > newest:
            expected = "refused"
        elif fails_from is not None and glibc >= fails_from:
            expected = "clash"
        if row["state"] != expected:
            yield f"{toolkit} with gcc {gcc} and glibc {glibc}: {row['state']}, and the catalog says {expected}"


def table(rows: list[dict[str, Any]]) -> str:
    """Toolkits against systems and compilers, in Markdown."""
    columns = list(dict.fromkeys((row["suite"], row["glibc"], row["gcc"]) for row in rows))
    cells = {(row["toolkit"], row["suite"], row["gcc"]): row["state"] for row in rows}
    lines = ["| toolkit | " + " | ".join(f"{suite}, glibc {glibc}, gcc {gcc}" for suite, glibc, gcc in columns) + " |"]
    lines.append("| --- " * (len(columns) + 1) + "|")
    for toolkit in dict.fromkeys(row["toolkit"] for row in rows):
        values = (cells.get((toolkit, suite, gcc), "") for suite, _glibc, gcc in columns)
        lines.append(f"| {toolkit} | " + " | ".join(values) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
