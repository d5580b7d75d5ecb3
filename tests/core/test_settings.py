"""A settings file that another version wrote, or that is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.settings import Settings, load_settings, save_settings


@pytest.mark.parametrize(
    "bad",
    [
        '"theme": "sepia"',
        '"text_scale": "large"',
        '"silenced": [1]',
        '"of_a_newer_version": {}',
        '"proxy": "socks"',
        '"proxy_address": "http://user:secret@proxy.example:8080"',
        '"proxy_address": "file:///etc/passwd"',
        '"environments_folder": ""',
    ],
)
def test_unknown_value_loses_that_value_alone(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(f'{{"environment": "/e", {bad}, "only_look": true}}', encoding="utf-8")
    assert load_settings(path) == Settings(environment="/e", setup_skipped=True)


@pytest.mark.parametrize("damaged", [b"{", b"[]", b"\xff\xfe\x00", b"", b"[" * 100_000])
def test_unreadable_settings_are_set_aside_by_the_next_save(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(damaged)
    assert load_settings(path) == Settings()
    assert path.read_bytes() == damaged  # reading changes nothing
    save_settings(path, Settings(theme="dark"))
    assert load_settings(path).theme == "dark"
    assert (tmp_path / "settings.json.damaged").read_bytes() == damaged


def test_readable_settings_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    save_settings(path, Settings(theme="dark"))
    save_settings(path, Settings())
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
