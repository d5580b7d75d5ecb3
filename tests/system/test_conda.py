"""How conda environments are laid out and activated, on both systems; mostly paths alone."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from gpu_assistant.system import conda, current_system


def test_bash_activates_conda_environment() -> None:
    result = conda.linux_activation_script(PurePosixPath("/home/li/my envs/a"), PurePosixPath("/opt/mini forge"))
    assert result == {
        PurePosixPath("/home/li/my envs/a/bin/activate"): ". '/opt/mini forge/bin/activate' '/home/li/my envs/a'\n"
    }


def test_cmd_and_powershell_activate_conda() -> None:
    root = PureWindowsPath(r"C:\Users\O'Neil 100%\miniforge3")
    result = conda.windows_activation_scripts(PureWindowsPath(r"C:\AI\envs\pytorch"), root)
    assert [str(path) for path in result] == [
        r"C:\AI\envs\pytorch\Scripts\activate.bat",
        r"C:\AI\envs\pytorch\Scripts\Activate.ps1",
    ]
    batch, shell = result.values()
    # cmd takes "%%" in a file for one "%", and PowerShell "''" in quotes for one "'".
    assert r'call "C:\Users\O' in batch
    assert r'100%%\miniforge3\Scripts\activate.bat" "%%~fI"' in batch
    assert shell.splitlines() == [
        r"& 'C:\Users\O''Neil 100%\miniforge3\shell\condabin\conda-hook.ps1'",
        "conda activate (Split-Path -Parent $PSScriptRoot)",
    ]


def test_windows_path_has_conda_libraries(tmp_path: Path) -> None:
    (tmp_path / "env" / "conda-meta").mkdir(parents=True)
    env = tmp_path / "env"
    wanted = [env, *(env / inner for inner in ("Library/mingw-w64/bin", "Library/usr/bin", "Library/bin"))]
    wanted += [env / "Scripts", env / "bin"]
    assert list(conda.windows_library_folders(env / "python.exe")) == wanted
    assert list(conda.windows_library_folders(env / "Scripts" / "pip.exe")) == wanted
    assert conda.windows_library_folders(tmp_path / "other" / "Scripts" / "python.exe") == ()


def test_conda_environment_programs(tmp_path: Path) -> None:
    system = current_system()
    plain, by_conda = tmp_path / "plain", tmp_path / "conda"
    plain.mkdir()
    (by_conda / "conda-meta").mkdir(parents=True)
    inner = "Scripts" if system.name == "windows" else "bin"
    python = system.executable("python")
    assert system.environment_python(plain) == plain / inner / python
    assert system.environment_python(by_conda) == by_conda / (python if system.name == "windows" else "bin/python")
    for environment in (plain, by_conda):
        assert system.environment_program(environment, "pip") == environment / inner / system.executable("pip")
    program = tmp_path / "forge" / inner / system.executable("conda")
    ways = system.conda_activation_files(by_conda, program)
    assert {path.parent for path in ways} == {by_conda / inner}
    letters = {".bat": "oem", ".ps1": "utf-8-sig"}  # what cmd and PowerShell read
    assert all(str(tmp_path / "forge") in text.decode(letters.get(path.suffix, "utf-8")) for path, text in ways.items())
