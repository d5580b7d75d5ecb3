"""What a system does for us beyond answering questions: variables, a start after login, power, the task bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

TaskbarState = Literal["none", "busy", "normal", "paused", "error"]


class EnvironmentVariable(Struct, frozen=True, kw_only=True):
    """A user's environment variable as it is written down; `expand`: names in it (%NAME%) are filled in at login."""

    value: str
    expand: bool = False


class UserEnvironmentVariables(Protocol):
    """The user's own environment variables, as every program gets them that is started after a change.

    For a job's thread: all windows are told of a change, and one that hangs takes its time.
    Each method raises AppError("variable-unusable"), and AppError("no-user-variables") where the system has none;
    ValueError for a name or a value that no system takes.
    """

    def get(self, name: str) -> EnvironmentVariable | None:
        """What is written down; None where there is no such variable."""
        ...

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """Write one down, whatever it was."""
        ...

    def remove(self, name: str) -> bool:
        """Take one away; False where there was none."""
        ...

    def is_on_path(self, folder: Path) -> bool:
        """Whether the user's PATH holds a folder in the very words of `add_to_path`."""
        ...

    def add_to_path(self, folder: Path) -> bool:
        """Put a folder at the end of the user's PATH; False where it is in there already, however it is written.

        Raises AppError("path-too-long", "path-not-addable").
        """
        ...

    def remove_from_path(self, folder: Path) -> bool:
        """Take back what `add_to_path` added, and nothing else: PATH is then what it was, letter by letter."""
        ...


class LoginCommand(Protocol):
    """One command that runs once, after the next login. Each method raises AppError("login-unusable")."""

    def set(self, argv: Sequence[str | Path]) -> None:
        """Run this then; in place of what was set before. Raises AppError("login-too-long"), ValueError for a
        program that is not named by its full path."""
        ...

    def get(self) -> tuple[str, ...] | None:
        """The words of the command that is set."""
        ...

    def clear(self) -> None:
        """Run nothing. The program that was started this way calls this: Linux does not do it by itself."""
        ...


class WslStatus(Struct, frozen=True, kw_only=True):
    """A Linux inside Windows: whether its parts of Windows are there and at work (`ready`), and this user's Linuxes of
    version 2, by name.
    """

    ready: bool = False
    distributions: tuple[str, ...] = ()


class PowerStatus(Struct, frozen=True, kw_only=True):
    """Where the current comes from, how full the battery is (0 to 100), whether the system saves power.

    None is unknown; a computer without a battery has no percent.
    """

    source: Literal["mains", "battery"] | None = None
    percent: int | None = None
    power_saving: bool | None = None


class TaskbarProgress(Protocol):
    """Progress on a window's button in the task bar. Used by the window's own thread only."""

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """Show it: "busy" goes to and fro, "normal", "paused" and "error" are filled up to `fraction` (0 to 1, all
        of it for None), "none" takes it away. Says whether the task bar took it."""
        ...

    def close(self) -> None:
        """Let go of the task bar; called once."""
        ...
