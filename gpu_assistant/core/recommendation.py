"""`Recommendation`: what to install on a machine, with reasons, warnings and alternatives; also JSON output.

`text` and `fix` fields are empty (`None`) until a face fills them in its language from `code` and `data`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from .types import Channel, Goal, Value, WayLack, WayName

RECOMMENDATION_SCHEMA = "gpu-assistant/recommendation/1"

Accelerator = Literal["cuda", "cpu", "rocm", "xpu", "mps"]
# Where packages come from: the build's own index, a mirror of it, the general package index.
IndexName = Literal["index", "mirror", "general"]
SourceState = Literal["available", "absent", "damaged", "unreachable", "late"]
# What an index is asked for; numpy stands for all the packages that only the general index has.
PackageName = Literal["torch", "torchvision", "torchaudio", "tensorflow", "numpy"]


# Warnings of a recommendation of which a part can be had nowhere, and errors of the same names.
UNAVAILABLE_CODES = frozenset({"source-none", "source-none-card", "source-none-tensorflow", "source-none-rest"})
# How the codes of warnings about where a plan's files come from begin.
SOURCE_WARNINGS = "source-"
# Errors of which it helps to ask the sources again.
RETRYABLE_CODES = UNAVAILABLE_CODES | {"no-network", "file-gone"}


class PyTorchChoice(Struct, frozen=True, kw_only=True):
    """One PyTorch build: release, local version tag (`cpu`, `cu126`, …) and the index that it comes from (None: the
    general package index).

    `cuda` and `cudnn` are the versions inside the wheel, where the catalog knows them. `extras` bring the code for this
    computer's cards, where that is packages of its own ("device-gfx1100").
    `source` is there where the indexes were asked: which of them has the build, None where none of them has.
    """

    version: str
    variant: str
    index_url: str | None = None
    torchvision: str | None = None
    torchaudio: str | None = None
    cuda: str | None = None
    cudnn: str | None = None
    extras: tuple[str, ...] | UnsetType = UNSET
    source: IndexName | UnsetType | None = UNSET


class DriverAdvice(Struct, frozen=True, kw_only=True):
    """What to do about the NVIDIA driver; versions as NVIDIA writes them ("566.03", "580.65.06"). "back" goes to an
    older one: the driver that is there no longer supports the card, or the user picked it.

    On Linux `packages` of the distribution bring it: `way` tells that they do ("packages"; `recommended` may then be
    their branch, "535"), that they are too old and NVIDIA's own source has it, or that what this release's packages
    bring is not known ("unsure"). Where we install none, it is "commands" that the distribution teaches, or its own
    `page`; with `key` the commands make a key for Secure Boot, about which the next start asks.
    `below` is the first driver that no longer supports the card, where one has to be put there: only older ones do.
    """

    action: Literal["keep", "update", "back", "install", "none"]
    installed: str | None = None
    minimum: str | None = None
    recommended: str | None = None
    channel: Channel | None = None
    url: str | None = None
    way: Literal["packages", "nvidia-source", "unsure", "commands", "page"] | None = None
    packages: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    page: str | None = None
    key: bool = False
    below: str | None = None

    @property
    def needs_install(self) -> bool:
        """Whether a driver has to be installed, also an older one."""
        return self.action in ("install", "update", "back")


class PartAdvice(Struct, frozen=True, kw_only=True):
    """What to do about the CUDA Toolkit or a separate cuDNN. `way`: as NVIDIA's Python packages in the environment, or
    by its own installer where the user picked that (None: from its archives, into a folder of the user's).
    """

    action: Literal["none", "keep", "install"]
    version: str | None = None
    way: Literal["installer", "wheels"] | None = None


class TensorFlowChoice(Struct, frozen=True, kw_only=True):
    """One TensorFlow release and the pip requirement that installs it; `constraints` are requirements that hold
    other packages back for it. `wsl`: the user wants WSL2 set up besides, where TensorFlow uses the card.
    """

    version: str
    requirement: str
    gpu: bool
    constraints: tuple[str, ...] = ()
    wsl: bool = False


class Reason(Struct, frozen=True, kw_only=True):
    """Why a part was chosen. `about` is a dotted path into the recommendation, `source` a public address."""

    code: str
    about: str
    data: dict[str, Value] = {}
    text: str | None = None
    source: str | None = None


class RecommendationWarning(Struct, frozen=True, kw_only=True):
    """Something that the user should know before installing, and what to do about it."""

    code: str
    data: dict[str, Value] = {}
    text: str | None = None
    fix: str | None = None


class Alternative(Struct, frozen=True, kw_only=True):
    """Another valid recommendation; `change` is the `Choice` that results in it."""

    code: str
    change: dict[str, Value]
    data: dict[str, Value] = {}
    label: str | None = None
    text: str | None = None


class Choice(Struct, frozen=True, kw_only=True):
    """The user's choices; None leaves the decision to the program.

    `driver` is "keep" or an exact version, `cuda_toolkit` and `cudnn` are "none" or a version, `tensorflow` is a
    version, `toolkit_way` "archives", "wheels" or "installer", `wsl` "install". What cannot work raises
    UsageError("choice-impossible", part=…, choice=…, why=…, newest=…). `way` is one of `Recommendation.ways`; it has no
    effect where there are none.
    """

    pytorch: str | None = None
    variant: str | None = None
    python: str | None = None
    driver: str | None = None
    cuda_toolkit: str | None = None
    cudnn: str | None = None
    tensorflow: str | None = None
    toolkit_way: str | None = None
    wsl: str | None = None
    way: WayName | None = None


class WayCost(Struct, frozen=True, kw_only=True):
    """What a way costs. `package_bytes` and `driver_bytes` to download are estimates from builds and drivers of the
    same kind (None: not known; 0: the driver stays). `manual_driver`: the user installs it, which is
    not among the `admin_prompts` of the plan. `restarts` are those of the computer.
    """

    package_bytes: int | None
    driver_bytes: int | None
    restarts: int
    admin_prompts: int
    manual_driver: bool


class Way(Struct, frozen=True, kw_only=True):
    """One of two ways where a driver update is needed: "newest" with a new driver, or "works-now", the newest that
    works with the driver that is there. `pytorch` is None where TensorFlow is alone; `lacks` is what the goal asks for
    and only the other way has; `text` is empty until a face fills it in.
    """

    id: WayName
    python: str | None
    pytorch: PyTorchChoice | None
    driver: DriverAdvice
    cuda_toolkit: PartAdvice
    cudnn: PartAdvice
    tensorflow: TensorFlowChoice | None
    cost: WayCost
    lacks: tuple[WayLack, ...] | UnsetType = UNSET
    text: str | None = None


class LocalWheel(Struct, frozen=True, kw_only=True):
    """A wheel in the user's wheelhouse: project "torch", version "2.13.0", variant "cpu" (or None), tags. One with a
    `label` is a wheel variant.
    """

    project: str
    version: str
    variant: str | None
    python: str | None
    path: str
    bytes: int
    label: str | None = None


class WheelReference(Struct, frozen=True, kw_only=True):
    """A wheel as an index lists it; `bytes` is None where the index does not say."""

    url: str
    name: str
    sha256: str
    bytes: int | None = None


class SourceAnswer(Struct, frozen=True, kw_only=True):
    """What an index answered when it was asked for a PyTorch build, or for a `package` that goes with it.

    `newest` is the newest release of this build that it has, not above `version`; `name` that of a mirror. "damaged"
    is an answer that is no package; "late" is none within the time that it was given. `file` is the wheel. `version`
    and `variant` are None where any will do.
    """

    source: IndexName
    version: str | None
    variant: str | None
    state: SourceState
    package: PackageName = "torch"
    newest: str | None = None
    name: str | None = None
    file: WheelReference | None = None


class Recommendation(Struct, frozen=True, kw_only=True):
    """Versions for one machine and goal. `choice` is what was picked by hand, `channel` the drivers' where that is not
    "studio", and `sources` what the indexes answered: by them the same is recommended again. `ways` are both ways where
    a driver update is needed, the preferred one first; one of them is the recommendation itself, the preferred one
    unless the user chose.
    """

    schema: Literal["gpu-assistant/recommendation/1"]
    goal: Goal
    accelerator: Accelerator
    python: str | None
    pytorch: PyTorchChoice | None
    driver: DriverAdvice
    cuda_toolkit: PartAdvice
    cudnn: PartAdvice
    tensorflow: TensorFlowChoice | None = None
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[RecommendationWarning, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    ways: tuple[Way, ...] = ()
    catalog_date: str | None = None
    channel: Channel | UnsetType = UNSET
    choice: Choice | UnsetType = UNSET
    sources: tuple[SourceAnswer, ...] | UnsetType = UNSET

    @property
    def way(self) -> Way | None:
        """The way that is recommended here, the first one or the user's choice; None where there are no two ways."""
        return next((way for way in self.ways if (way.pytorch, way.driver) == (self.pytorch, self.driver)), None)
