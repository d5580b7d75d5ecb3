"""Why an install failed, and what the window offers then: try again, another version, another folder, or going back."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core.errors import AppError, UsageError
from ...core.message import Message
from ...core.recommendation import Alternative

Remedy = Literal["retry", "alternative", "folder", "back"]

# Another folder can lie on another disk, or belong to the user where this one does not.
FOLDER_ERROR_CODES = frozenset(
    {
        "disk-full",
        "disk-read-only",
        "disk-too-small",
        "folder-name-odd",
        "folder-of-ours",
        "folder-of-system",
        "folder-shared",
        "folder-synced",
        "folder-too-long",
        "environment-differs",
        "environment-occupied",
        "environment-elsewhere",
        "folder-unwritable",
        "storage",
    }
)


class Failure(Struct, frozen=True, kw_only=True):
    """Why an install failed, and what the user can do about it, the most promising remedy first."""

    message: Message
    remedies: tuple[Remedy, ...]
    alternatives: tuple[Alternative, ...] = ()


def failure_from_error(error: AppError) -> Failure:
    """The failure of an install that ended with this error."""
    remedies: list[Remedy] = []
    if error.alternatives:
        remedies.append("alternative")
    if error.code in FOLDER_ERROR_CODES:
        remedies.append("folder")
    # Repeating a call with wrong arguments cannot help.
    if not isinstance(error, UsageError):
        remedies.append("retry")
    remedies.append("back")
    return Failure(message=error.message, remedies=tuple(remedies), alternatives=error.alternatives)
