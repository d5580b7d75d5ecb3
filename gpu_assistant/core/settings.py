"""The user's settings, stored in a JSON file on every system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from . import filesystem, json
from .errors import storage_errors
from .types import Language, MirrorUse, ProxyUse

Theme = Literal["system", "light", "dark", "contrast"]
# A proxy's address without user and password, which are never stored: "http://proxy.example:8080".
ProxyAddress = Annotated[str, msgspec.Meta(pattern=r"^https?://(\[[0-9A-Fa-f:.]+\]|[^\s/@:?#\[\]]+)(:[0-9]{1,5})?/?$")]
# What the user calls an environment, in one line.
EnvironmentName = Annotated[str, msgspec.Meta(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]
FolderName = Annotated[str, msgspec.Meta(min_length=1)]
DAMAGED_SUFFIX = ".damaged"  # of a file that was set aside


class MutedAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of alarm of one GPU for which no notification is shown.

    `alarm` is the rule's id, `card` the GPU's key (`monitor.series.gpu_key`), `name` the GPU's name when it was muted,
    for the list of muted alarms in the settings.
    """

    alarm: str
    card: str
    name: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings with their defaults; field names in the file may differ (`name`), as older versions wrote them.

    `language` None follows the system. The window opens Home instead of the wizard where `setup_done` is set, or
    `setup_skipped`: the user chose to look at the GPU without a setup. `environment` is the path of the environment
    used last. `look_for_updates` has an effect only in builds with an address for updates. `mirrors` tells when the
    publishers' mirrors are used: after a slow official source, before it, or never. `speed_limit` is in bytes per
    second for all downloads together, None for no limit. `proxy` is how downloads reach the internet, `proxy_address`
    the proxy that was set by hand. `environments_folder` is where new environments go, None for the system's default.
    `environment_names` are the user's names for environments, by path. `finish_notices` are notifications that long
    work has ended well. `muted_alarms` are ids of rules without notifications, for the computer and all GPUs;
    `muted_gpu_alarms` are those of single GPUs.
    """

    language: Language | None = None
    theme: Theme = "system"
    text_scale: float = 1.0
    setup_done: bool = False
    setup_skipped: bool = msgspec.field(default=False, name="only_look")
    environment: str | None = None
    look_for_updates: bool = True
    alarms: bool = True
    muted_alarms: tuple[str, ...] = msgspec.field(default=(), name="silenced")
    muted_gpu_alarms: tuple[MutedAlarm, ...] = msgspec.field(default=(), name="silenced_cards")
    tray: bool = True
    mirrors: MirrorUse = "when-slow"
    speed_limit: int | None = None
    proxy: ProxyUse = "system"
    proxy_address: ProxyAddress | None = None
    environments_folder: FolderName | None = None
    finish_notices: bool = True
    environment_names: dict[str, EnvironmentName] = {}

    @property
    def opens_home(self) -> bool:
        """Whether the window opens with Home instead of the wizard."""
        return self.setup_done or self.setup_skipped

    def environment_names_with(self, path: str, name: str) -> dict[str, str]:
        """`environment_names` with this name for the environment at `path`; "" and its folder's own name are none."""
        names = {each: given for each, given in self.environment_names.items() if each != path}
        return names | ({path: name} if name and name != Path(path).name else {})

    def is_muted(self, alarm: str, card: str | None) -> bool:
        """Whether a rule's alarm is muted for the GPU with the key `card`, None for the computer."""
        if alarm in self.muted_alarms:
            return True
        return any((each.alarm, each.card) == (alarm, card) for each in self.muted_gpu_alarms)


def load_settings(path: Path) -> Settings:
    """Read the settings; each that is missing or has an unknown value has its default, and all do where the file cannot
    be read.
    """
    try:
        values = _read_values(path)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Settings()
    return Settings(**{name: value for name, raw in values.items() for name, value in _decode_setting(name, raw)})


def _read_values(path: Path) -> dict[str, msgspec.Raw]:
    return json.decode(filesystem.read_bytes(path), dict[str, msgspec.Raw])


def _decode_setting(stored_name: str, raw: msgspec.Raw) -> Iterator[tuple[str, Any]]:
    """The field and its value; nothing for a setting or a value that this version does not know."""
    for field in msgspec.structs.fields(Settings):
        if field.encode_name == stored_name:
            with suppress(msgspec.ValidationError, UnicodeDecodeError):
                yield field.name, json.decode(bytes(raw), field.type)


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings atomically; raises AppError. A file in the way that is no JSON object is kept under a name of
    its own.
    """
    with storage_errors(path):
        try:
            _read_values(path)
        except FileNotFoundError:
            pass
        except (msgspec.DecodeError, UnicodeDecodeError):
            filesystem.replace(path, path.with_name(path.name + DAMAGED_SUFFIX))
    json.write_file(path, json.encode_pretty(settings) + "\n")
