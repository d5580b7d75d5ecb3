"""What an environment shall hold, before any source was asked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import Struct

from ..core import json
from ..core.recommendation import LocalWheel, PyTorchChoice
from . import wheelhouse
from .uv import general_index

# pip, because a person who types `pip install` means this environment and would otherwise get another's pip.
ALWAYS = ("numpy", "pip")


class Wish(Struct, frozen=True, kw_only=True):
    """`torch` "2.13.0" with `variant` "cpu"; `python` like "3.11".

    `serves_variant` tells whether the general index is known to serve this very build for this system.
    `general` is the general index's address where the user named one.
    """

    python: str
    torch: str
    variant: str
    torchvision: str | None
    index_url: str | None
    wheelhouse: str | None
    serves_variant: bool
    general: str | None

    @property
    def key(self) -> str:
        """Equal for equal wishes: the name under which a lock is kept."""
        return hashlib.sha256(json.encode(self)).hexdigest()[:32]

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        """What the wheelhouse has for this Python."""
        if self.wheelhouse is None:
            return ()
        return wheelhouse.usable(Path(self.wheelhouse), self.python)


def wish(torch: PyTorchChoice, *, python: str, folder: str | None, serves_variant: bool) -> Wish:
    """The packages that a choice of PyTorch asks for."""
    return Wish(
        python=python,
        torch=torch.version,
        variant=torch.variant,
        torchvision=torch.torchvision,
        index_url=torch.index_url,
        wheelhouse=folder,
        serves_variant=serves_variant,
        general=general_index(),
    )
