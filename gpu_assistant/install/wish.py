"""What an environment shall hold, before any source was asked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import Struct

from ..core import json
from ..core.paths import DataDir
from ..core.recommendation import LocalWheel, Recommendation
from . import wheelhouse
from .target import Target
from .uv import general_index

# pip, because a person who types `pip install` means this environment and would otherwise get another's pip.
ALWAYS = ("numpy", "pip")
PACKAGES = ("python", "torch", "variant", "torchvision", "torchaudio", "tensorflow", "constraints")


class Wish(Struct, frozen=True, kw_only=True):
    """`torch` "2.13.0" with `variant` "cpu"; `python` like "3.11". `tensorflow` is a requirement, like
    "tensorflow[and-cuda]==2.21.*", and `constraints` are requirements that hold other packages back.

    `serves_variant` tells whether the general index is known to serve this very build for this system.
    `general` is the general index's address where the user named one; `target` the computer that it is for where
    that is not this one.
    """

    python: str
    torch: str | None
    variant: str | None
    torchvision: str | None
    torchaudio: str | None
    tensorflow: str | None
    constraints: tuple[str, ...]
    index_url: str | None
    wheelhouse: str | None
    serves_variant: bool
    general: str | None
    target: Target | None = None

    @property
    def label(self) -> str:
        """What it asks for, as a person says it."""
        torch = f"PyTorch {self.torch} ({self.variant})" if self.torch is not None else None
        return " + ".join(part for part in (torch, self.tensorflow) if part is not None)

    @property
    def key(self) -> str:
        """Equal for equal wishes: the name under which a lock is kept."""
        return hashlib.sha256(json.encode(self)).hexdigest()[:32]

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        """What the wheelhouse has for this Python."""
        if self.wheelhouse is None:
            return ()
        platforms = self.target.platforms if self.target is not None else None
        return wheelhouse.usable(Path(self.wheelhouse), self.python, platforms)

    def same_packages(self, other: Wish) -> bool:
        """Whether the other asks for the very same packages, wherever they may come from."""
        return all(getattr(self, name) == getattr(other, name) for name in PACKAGES)


def lock_path(data: DataDir, wanted: Wish) -> Path:
    """Where the lock of a wish is kept."""
    return data.locks / f"{wanted.key}.toml"


def wish(
    recommendation: Recommendation,
    *,
    python: str,
    folder: str | None,
    serves_variant: bool,
    held: tuple[str, ...] = (),
    target: Target | None = None,
) -> Wish:
    """The packages that a recommendation asks for: PyTorch, TensorFlow, or both. `held` are the requirements that
    hold packages back for PyTorch.
    """
    torch, flow = recommendation.pytorch, recommendation.tensorflow
    return Wish(
        python=python,
        torch=torch.version if torch is not None else None,
        variant=torch.variant if torch is not None else None,
        torchvision=torch.torchvision if torch is not None else None,
        torchaudio=torch.torchaudio if torch is not None else None,
        tensorflow=flow.requirement if flow is not None else None,
        constraints=(*held, *(flow.constraints if flow is not None else ())),
        index_url=torch.index_url if torch is not None else None,
        wheelhouse=folder,
        serves_variant=serves_variant,
        general=general_index(),
        target=target,
    )
