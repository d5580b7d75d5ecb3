"""What the fakes answer with: computers, recommendations, a plan, checks and a benchmark."""

from __future__ import annotations

from typing import Any

from gpu_assistant.core.machine import MACHINE_SCHEMA, Cpu, Disk, Driver, Gpu, Machine, OperatingSystem, Python
from gpu_assistant.core.plan import PLAN_SCHEMA, Plan, Step
from gpu_assistant.core.recommendation import (
    RECOMMENDATION_SCHEMA,
    Alternative,
    Choice,
    DriverAdvice,
    PartAdvice,
    PyTorchChoice,
    Reason,
    Recommendation,
    Way,
    WayCost,
)
from gpu_assistant.core.results import (
    BenchDevice,
    Benchmark,
    BenchResult,
    Check,
    Checks,
    CheckState,
)
from gpu_assistant.core.types import WayName

GIB = 2**30


def rtx4060() -> Machine:
    """A Windows box whose driver is too old."""
    return Machine(
        schema=MACHINE_SCHEMA,
        os=OperatingSystem(system="windows", name="Windows 11 Pro", version="10.0.26100", build=26100, arch="x86_64"),
        gpus=(
            Gpu(
                vendor="nvidia",
                name="NVIDIA GeForce RTX 4060",
                pci_id="10de:2882",
                compute_capability="8.9",
                memory_bytes=8 * GIB,
            ),
        ),
        cpu=Cpu(name="AMD Ryzen 5 7500F", cores=6, threads=12),
        memory_bytes=32 * GIB,
        disks=(Disk(path="D:\\", free_bytes=412_000_000_000, total_bytes=1_000_000_000_000),),
        driver=Driver(version="566.03", cuda_max="12.7", model="WDDM"),
        pythons=(Python(path="C:\\Python312\\python.exe", version="3.12.7", kind="system"),),
        cuda_toolkits=(),
        cudnn=(),
    )


def plain_linux() -> Machine:
    """A Linux box without an NVIDIA card."""
    return Machine(
        schema=MACHINE_SCHEMA,
        os=OperatingSystem(
            system="linux", name="Debian GNU/Linux 12", version="6.1.0", arch="x86_64", distro="debian", glibc="2.36"
        ),
        gpus=(),
        cpu=Cpu(name="AMD EPYC 7B13", cores=2, threads=2),
        memory_bytes=24 * GIB,
        disks=(Disk(path="/", free_bytes=52_000_000_000, total_bytes=100_000_000_000),),
        pythons=(Python(path="/usr/bin/python3", version="3.11.2", kind="system"),),
        cuda_toolkits=(),
        cudnn=(),
    )


WHEELHOUSE_OFFER = Alternative(
    code="wheelhouse-torch",
    change={"pytorch": "2.13.0", "variant": "cpu", "python": "3.11"},
    data={"pytorch": "2.13.0", "variant": "cpu", "python": "3.11", "build": "2.13.0+cpu"},
)


def cpu_recommendation(choice: Choice | None = None, *, offers: bool = True) -> Recommendation:
    """What suits `plain_linux`."""
    version = choice.pytorch if choice is not None and choice.pytorch else "2.15.0"
    return Recommendation(
        schema=RECOMMENDATION_SCHEMA,
        goal="pytorch",
        accelerator="cpu",
        python="3.11",
        pytorch=PyTorchChoice(version=version, variant="cpu", index_url="https://example.invalid/whl/cpu"),
        driver=DriverAdvice(action="none"),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
        reasons=(
            Reason(code="cpu-no-gpu", about="accelerator", source="https://example.invalid/install"),
            Reason(
                code="version-newest",
                about="pytorch.version",
                data={"version": version},
                source="https://example.invalid/releases",
            ),
            Reason(code="driver-none", about="driver.action", source="https://example.invalid/install"),
            Reason(code="toolkit-no-cuda", about="cuda_toolkit", source="https://example.invalid/install"),
            Reason(code="cudnn-no-cuda", about="cudnn", source="https://example.invalid/install"),
        ),
        alternatives=(WHEELHOUSE_OFFER,) if offers and choice is None else (),
        catalog_date="2026-11-21",
    )


def rtx4060_recommendation(choice: Choice | None = None) -> Recommendation:
    """What suits `rtx4060`: a newer driver first, or a release for the one that is there."""
    newest, works_now = _rtx4060_way("newest"), _rtx4060_way("works-now")
    way = works_now if choice is not None and choice.way == "works-now" else newest
    gpu, capability = "NVIDIA GeForce RTX 4060", "8.9"
    return Recommendation(
        schema=RECOMMENDATION_SCHEMA,
        goal="pytorch",
        accelerator="cuda",
        python="3.12",
        pytorch=way.pytorch,
        driver=way.driver,
        cuda_toolkit=way.cuda_toolkit,
        cudnn=way.cudnn,
        reasons=(
            Reason(code="cuda", about="accelerator", data={"gpu": gpu, "capability": capability}),
            Reason(code="version-newest", about="pytorch.version", data={"version": way.pytorch.version}),
            Reason(
                code=f"driver-{way.driver.action}",
                about="driver.action",
                data={
                    "installed": "566.03",
                    "minimum": "580.88",
                    "recommended": "617.42",
                    "cuda": "13.2",
                    "whom": "@driver.for-card",
                },
                source="https://docs.example.invalid/cuda",
            ),
            Reason(code="toolkit-inside", about="cuda_toolkit", data={"cuda": "13.2"}),
            Reason(code="cudnn-inside", about="cudnn", data={"cudnn": "9.26"}),
        ),
        ways=(newest, works_now),
        catalog_date="2026-11-21",
    )


def _rtx4060_way(name: WayName) -> Way:
    is_newest = name == "newest"
    return Way(
        id=name,
        python="3.12",
        pytorch=PyTorchChoice(
            version="2.15.0" if is_newest else "2.14.1",
            variant="cu132" if is_newest else "cu126",
            index_url="https://example.invalid/whl/cu132",
            cuda="13.2" if is_newest else "12.6",
            cudnn="9.26" if is_newest else "9.10.2",
        ),
        driver=DriverAdvice(
            action="update" if is_newest else "keep",
            installed="566.03",
            minimum="580.88",
            recommended="617.42" if is_newest else None,
            channel="studio",
        ),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
        tensorflow=None,
        cost=WayCost(
            package_bytes=2_600_000_000,
            driver_bytes=980_000_000 if is_newest else 0,
            restarts=int(is_newest),
            admin_prompts=int(is_newest),
            manual_driver=False,
        ),
    )


def make_plan(recommendation: Recommendation, environment: str, *, simulated: bool = False) -> Plan:
    """The steps as the planner lists them; their texts are the product's own."""
    torch = recommendation.pytorch
    release = f"PyTorch {torch.version}+{torch.variant}" if torch is not None else "—"
    fetched, on_disk = 192_000_000, 910_000_000
    return Plan(
        schema=PLAN_SCHEMA,
        goal="pytorch",
        env=environment,
        recommendation=recommendation,
        steps=(
            Step(
                id="space",
                kind="check-space",
                code="check-space",
                data={"env": environment, "disk_bytes": on_disk},
                minutes=0.0,
            ),
            Step(
                id="python",
                kind="python-runtime",
                code="python-here",
                data={"python": "3.11.2", "path": "/usr/bin/python3"},
                bytes=0,
                minutes=0.0,
            ),
            Step(
                id="resolve",
                kind="resolve",
                code="resolve",
                data={"release": release, "python": "3.11", "packages": "torch, numpy", "requirements": "torch numpy"},
                minutes=0.2,
                commands=(("uv", "pip", "compile", "requirements.in", "-o", "pylock.toml"),),
            ),
            Step(
                id="download",
                kind="download",
                code="download",
                data={"release": release, "bytes": fetched},
                bytes=fetched,
                minutes=0.6,
            ),
            Step(
                id="pytorch",
                kind="python-packages",
                code="python-packages",
                data={"release": release, "env": environment},
                disk_bytes=on_disk,
                minutes=0.5,
                commands=(("uv", "venv", environment), ("uv", "pip", "sync", "--python", environment, "pylock.toml")),
            ),
            Step(
                id="verify",
                kind="verify",
                code="verify",
                data={"env": environment, "release": release},
                minutes=0.5,
                commands=(("gpu-assistant", "verify", "--env", environment),),
            ),
        ),
        bytes=fetched,
        disk_bytes=on_disk,
        minutes=1.8,
        simulated=simulated,
    )


def good_checks() -> Checks:
    """Everything passed, on the CPU."""

    def one(name: str, state: CheckState = "pass", **data: Any) -> Check:
        return Check(id=name, state=state, value=data.get("value"), data={"expected": None, **data})

    return Checks(
        schema="gpu-assistant/checks/1",
        verdict="pass",
        checks=(
            one("environment", value="/home/mei/ai/pytorch"),
            one("packages", value=None, count=0),
            one("python", value="3.11.2"),
            one("torch-import", value="2.13.0+cpu", seconds=1.4),
            one("torch-variant", value="2.13.0+cpu"),
            one("cpu-compute", value=2.1e-7),
            one("torch-cuda", "skip", reason="@verify.reason.cpu-build"),
        ),
    )


def gpu_checks(environment: str = r"D:\AI\pytorch") -> Checks:
    """Everything passed, on an RTX 4060."""
    card: dict[str, Any] = {"device": "cuda:0", "name": "NVIDIA GeForce RTX 4060", "memory_bytes": 8_585_740_288}

    def one(check_id: str, value: str | float | None, **data: Any) -> Check:
        return Check(id=check_id, state="pass", value=value, data={"expected": None, "value": value, **data})

    return Checks(
        schema="gpu-assistant/checks/1",
        verdict="pass",
        checks=(
            one("environment", environment),
            one("packages", None, count=0),
            one("driver", "617.42"),
            one("python", "3.12.7"),
            one("torch-import", "2.15.0+cu132", seconds=3.1),
            one("torch-variant", "2.15.0+cu132"),
            one("cpu-compute", 2.1e-7),
            one("torch-cuda", 1, devices=1),
            one("cuda-version", "13.2"),
            one("device-query", "NVIDIA GeForce RTX 4060", **card),
            one("device-compute", 3.2e-7, **card),
            one("cudnn", "9.26.0", **card),
            one("copy-bandwidth", 12.6, up_gb_s=12.6, down_gb_s=13.1, **card),
        ),
    )


def cpu_benchmark() -> Benchmark:
    """One matmul on the CPU."""
    return Benchmark(
        schema="gpu-assistant/benchmark/1",
        torch="2.13.0+cpu",
        devices=(BenchDevice(id="cpu", name="AMD EPYC 7B13", threads=2),),
        results=(
            BenchResult(
                id="matmul",
                device="cpu",
                dtype="float32",
                size=(2048, 2048, 2048),
                unit="TFLOP/s",
                median=0.141,
                q1=0.139,
                q3=0.142,
                runs=20,
                seconds=2.4,
            ),
        ),
        seconds=4.2,
    )
