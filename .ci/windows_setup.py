"""Tries the built setup program like people do: run by `.ci/windows-setup` on the rig's screen.

    windows_setup.py clicked|silent|damaged SETUP OLDER SHOTS HOLD

clicked  the older version by its windows, in Chinese; started from its shortcut; upgraded while it is open;
         uninstalled by its windows; registry and files as before.
silent   into a folder with spaces and Chinese letters; repaired; cut off; kept from a file by HOLD (hold.c),
         which leaves the program that was there whole; uninstalled while HOLD has a file; registry and files as before.
damaged  a module that was taken away, an abort and a fault are said in a box, with the log's place; the whole program
         starts without one, and is closed by its launcher whatever path it was started by.

Everything waits for what it can see (a file, a window, an exit), never for time alone. Ends with 1 and a sentence.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from screen import Failed, wait, windows

PREFIX = Path(os.environ["WINEPREFIX"])
DRIVE = PREFIX / "drive_c"
USER = DRIVE / "users" / os.environ["USER"]
LOCAL = USER / "AppData" / "Local"
MENU = USER / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/GPU Assistant.lnk"
DESKTOP = USER / "Desktop/GPU Assistant.lnk"
KEY = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\GPU Assistant"
NAME = "GPU Assistant"
TITLE = "GPU (Assistant|助手)"
# What Wine itself writes about what ran.
NOISE = re.compile(
    r"\\(Wine|Console|Cached|MuiCache|Explorer|Fonts|Direct3D|Internet Settings|Volatile Environment)\b", re.I
)


def check(holds: object, what: str) -> None:
    if not holds:
        raise Failed(what)


def program(*words: str | Path) -> list[str]:
    return ["wine", *map(str, words)]


def start(*words: str | Path) -> subprocess.Popen[bytes]:
    """Start a Windows program. Wine needs pipes where others take files; nobody reads this one's words."""
    return subprocess.Popen(program(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(*words: str | Path, code: int = 0) -> str:
    """Run to the end; what it said."""
    done = subprocess.run(program(*words), stdin=subprocess.PIPE, capture_output=True, timeout=300, check=False)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    check(done.returncode == code, f"{words} ended with {done.returncode}, not {code}: {said[-600:]}")
    return said


def into(setup: Path, folder: str) -> int:
    """Install silently into a folder; the exit code. /D= must stand last and without quotes, whatever is in it."""
    line = f"Z:{str(setup).replace('/', chr(92))} /S /D={folder}"
    done = subprocess.run(
        ["wine", "cmd", "/c", line], stdin=subprocess.PIPE, capture_output=True, timeout=300, check=False
    )
    return done.returncode


def windows_path(path: Path) -> str:
    return "C:\\" + str(path.relative_to(DRIVE)).replace("/", "\\")


def key(*names: str) -> None:
    subprocess.run(["xdotool", "key", "--clearmodifiers", *names], check=True)


class Camera:
    """Pictures of the screen; also the way to see that something has changed."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder = folder
        self.prefix = prefix
        self.count = 0
        folder.mkdir(parents=True, exist_ok=True)

    def look(self) -> bytes:
        picture = self.folder / f"{self.prefix}-now.png"
        subprocess.run(["scrot", "-o", picture], check=True)
        return picture.read_bytes()

    def steady(self, *, unlike: bytes | None = None, seconds: float = 60) -> bytes:
        """Wait until the screen shows something else than `unlike` and has come to rest; what it shows."""
        seen = [b""]

        def rested() -> bool:
            before, seen[0] = seen[0], self.look()
            return seen[0] == before and seen[0] != unlike

        wait(rested, "the screen does not change or does not come to rest", seconds)
        return seen[0]

    def shoot(self, name: str) -> None:
        self.count += 1
        subprocess.run(["scrot", "-o", self.folder / f"{self.prefix}-{self.count:02}-{name}.png"], check=True)


def registry() -> set[str]:
    """The user's registry, one line for each value with its key."""
    exported = PREFIX / "drive_c" / "exported.reg"
    run("reg", "export", "HKCU", windows_path(exported), "/y")
    text = exported.read_text(encoding="utf-16", errors="replace")
    exported.unlink()
    lines, where = set(), ""
    for line in text.splitlines():
        if line.startswith("["):
            where = line
        if line.strip() and not NOISE.search(where):
            lines.add(f"{where} {line}")
    return lines


def files() -> set[str]:
    """What lies on drive C but for Windows' own and temporary matters."""
    found = set()
    for folder, folders, names in os.walk(DRIVE):
        here = Path(folder)
        if here == DRIVE:
            folders[:] = [name for name in folders if name != "windows"]
        folders[:] = [name for name in folders if name.lower() not in ("temp", "recent")]
        found.update(str((here / name).relative_to(DRIVE)) for name in (*folders, *names))
    return found


def same(before: set[str], after: set[str], what: str, *, but: tuple[str, ...] = ()) -> None:
    left = sorted(each for each in after - before if not any(word in each for word in but))
    gone = sorted(before - after)
    check(not left and not gone, f"{what} after uninstalling: left {left[:8]}, gone {gone[:8]}")


def installed_version(folder: Path) -> str:
    return run(folder / "gpu-assistant.exe", "--version").strip()


def log() -> str:
    file = LOCAL / "gpu-assistant" / "logs" / "gpu-assistant.log"
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def shows(face: str, times: int = 1) -> None:
    """Wait until the program has shown the wizard or the main area that often."""
    wait(lambda: log().count(f"{face} shown") >= times, f"the window never showed the {face}")


def closed() -> None:
    wait(lambda: not windows(f"^{TITLE}"), "its window stays open")


def settle_in() -> None:
    """Make the folders that every Windows has, and Wine only when somebody asks for them."""
    run("cmd", "/c", "exit")
    for folder in (LOCAL / "Programs", MENU.parent, DESKTOP.parent):
        folder.mkdir(parents=True, exist_ok=True)
    run("reg", "add", f"HKCU\\{KEY.rsplit(chr(92), 1)[0]}", "/f")


def clicked(setup: Path, older: Path, shots: Camera, _hold: Path) -> None:
    """The whole life of an installation, by its windows, in Chinese."""
    settle_in()
    files_before, registry_before = files(), registry()
    folder = LOCAL / "Programs" / NAME
    setup_program = start(older)
    wait(lambda: windows(TITLE), "the setup program shows no window")
    seen = shots.steady()
    shots.shoot("welcome")
    key("Return")
    seen = shots.steady(unlike=seen)
    shots.shoot("folder")
    begun = time.monotonic()
    key("Return")
    wait(lambda: (folder / "uninstall.exe").exists() and DESKTOP.exists(), "it installs nothing", 120)
    print(f"installed by its windows in {time.monotonic() - begun:.1f} s")
    shots.steady(unlike=seen)
    shots.shoot("finished")
    # The last page offers to open the program; here it is opened by its shortcut.
    key("space", "Return")
    check(setup_program.wait(60) == 0, "the setup program does not end well")
    old_version = installed_version(folder)

    check(MENU.is_file() and DESKTOP.is_file(), "a shortcut is missing")
    start("start", "/unix", DESKTOP)
    shows("wizard")
    shots.steady()
    shots.shoot("wizard")
    key("Tab", "space")
    shows("main area")
    shots.steady(seconds=20)
    shots.shoot("dashboard")

    # A newer version comes while it is open: it is closed, not killed, and its files are replaced.
    begun = time.monotonic()
    run(setup, "/S")
    print(f"upgraded over the open program in {time.monotonic() - begun:.1f} s")
    closed()
    new_version = installed_version(folder)
    check(new_version != old_version, f"still {old_version} after the upgrade")
    check("window closed" in log(), "the open program was not asked to close")
    run("reg", "query", f"HKCU\\{KEY}", "/v", "DisplayVersion")
    start("start", "/unix", MENU)
    shows("main area", 2)  # who only wanted to look is not asked again
    shots.steady()
    shots.shoot("upgraded")

    # Uninstalled by its windows while it is open.
    start(folder / "uninstall.exe")
    wait(lambda: windows(f"{TITLE} (卸载|解除|Uninstall)"), "the uninstaller shows no window")
    seen = shots.steady()
    shots.shoot("uninstall")
    key("Return")
    wait(lambda: not folder.exists(), "the program's folder stays", 60)
    shots.steady(unlike=seen)
    shots.shoot("uninstalled")
    key("Return")
    wait(lambda: not windows(TITLE), "the uninstaller stays open")
    same(files_before, files(), "files")
    same(registry_before, registry(), "registry")


class Held:
    """A file that another program has open."""

    def __init__(self, hold: Path, file: Path) -> None:
        self.words = hold, windows_path(file)

    def __enter__(self) -> None:
        self.program = start(*self.words)
        check(self.program.stdout and self.program.stdout.readline().strip() == b"held", f"{self.words} holds nothing")

    def __exit__(self, *_: object) -> None:
        self.program.kill()
        self.program.wait()


def whole(folder: Path, version: str) -> None:
    """The program is there, of this version, and nothing that an exchange leaves."""
    check(installed_version(folder) == version, f"it is not {version}")
    check((folder / "app/gpu_assistant/app/__init__.pyc").is_file(), "the program is not whole")
    left = [name for name in ("new", "old", "gone") if (folder / name).exists()]
    check(not left, f"{left} stays behind")


def damaged(setup: Path, _older: Path, shots: Camera, _hold: Path) -> None:
    """A file that a virus scanner took."""
    settle_in()
    # Wine's desktop keeps what it inherits from the program that opens the first window: not the report of ours.
    first = start("notepad")
    wait(lambda: windows("Notepad"), "Wine shows no window")
    first.kill()
    folder = DRIVE / "program"
    check(into(setup, windows_path(folder)) == 0, "silent installing fails")
    report = LOCAL / "gpu-assistant" / "logs" / "start.txt"

    def ended_with_box(name: str, says: str) -> int:
        """The exit code of a start that shows a box, which waits, and leaves a report with some words."""
        ended = start(folder / f"{NAME}.exe")
        wait(lambda: windows(f"^{NAME}$"), f"{name}: it ends without a word")
        shots.steady()
        shots.shoot(name)
        check(says in report.read_text(encoding="utf-8"), f"{name}: {report} does not say {says}")
        check(ended.poll() is None, f"{name}: the box does not wait for the person")
        key("Return")
        return int(ended.wait(60))

    for name, taken, says in (
        ("module", "app/PySide6/QtWidgets.pyd", "No module named 'PySide6.QtWidgets'"),
        ("main", "app/gpu_assistant/__main__.pyc", "No module named gpu_assistant.__main__"),
        # Python ends before it can import anything.
        ("python", "runtime/python*.zip", "encodings"),
    ):
        (file,) = folder.glob(taken)
        away = file.rename(DRIVE / "taken")
        if file.suffix == ".zip":
            file.write_bytes(b"empty")
        check(ended_with_box(name, says) == 1, f"{name}: its exit code is not 1")
        away.replace(file)
    main = folder / "app/gpu_assistant/__main__.pyc"
    away = main.rename(DRIVE / "taken")
    for name, code, says in (
        ("abort", "import ctypes; ctypes.pythonapi.Py_FatalError(b'as in a fault')", "Fatal Python error"),
        ("fault", "import faulthandler; faulthandler._read_null()", ""),
    ):
        main.with_suffix(".py").write_text(code)
        check(ended_with_box(name, says) != 0, f"{name}: it ends as if all were well")
    main.with_suffix(".py").unlink()
    away.replace(main)
    well = start(folder / f"{NAME}.exe")
    shows("wizard")
    key("alt+F4")
    check(well.wait(60) == 0, f"the whole program ended with {well.returncode}")
    check(not report.exists(), "a program that ended well left a report")
    # A letter that stands for the folder, as subst makes it.
    (PREFIX / "dosdevices" / "x:").symlink_to(folder)
    for times, started, named in ((2, "X:\\", windows_path(folder)), (3, f"{windows_path(folder)}\\", "X:")):
        well = start(f"{started}{NAME}.exe")
        shows("wizard", times)
        run(folder / f"{NAME}.exe", "--close-program", named)
        check(well.wait(60) == 0, f"started by {started}, it ended with {well.returncode}")


def silent(setup: Path, older: Path, shots: Camera, hold: Path) -> None:
    """Without a question, as administrators of many computers do."""
    settle_in()
    files_before, registry_before = files(), registry()
    folder = DRIVE / "我的 程序" / "GPU Assistant"
    full = DRIVE / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("all of it")
    run(setup, "/S", "/D=C:\\full", code=2)
    check([file.name for file in full.iterdir()] == ["thesis.txt"], "a folder with other files was used")
    (full / "thesis.txt").unlink()
    full.rmdir()
    check(into(setup, "Q:\\nowhere") == 2, "a folder that cannot be is taken for another")
    begun = time.monotonic()
    check(into(setup, windows_path(folder)) == 0, "silent installing fails")
    print(f"installed silently in {time.monotonic() - begun:.1f} s")
    version = installed_version(folder)
    said = run(folder / "gpu-assistant.exe", "detect", "--json")
    check('"system":"windows"' in said, f"detect says {said[:300]}")
    # Repair: a file that was lost comes back; the place is remembered.
    lost = folder / "app/gpu_assistant/app/__init__.pyc"
    lost.unlink()
    run(setup, "/S")
    check(lost.is_file() and installed_version(folder) == version, "running the setup again repairs nothing")
    # Work in a terminal is not ended by us: a silent run gives up.
    watching = start(folder / "gpu-assistant.exe", "monitor")
    check(watching.stdout and watching.stdout.readline(), "monitor says nothing")
    # Waited for by its exit: what Wine starts beside a terminal's program keeps the pipe open.
    refused = start(setup, "/S").wait(120)
    check(refused == 3, f"setup ended with {refused}, not 3, while monitor was open")
    check(watching.poll() is None, "work in a terminal was ended")
    watching.kill()
    watching.wait()
    # The power fails while it unpacks; what was there is whole, and the next run leaves nothing behind.
    half = start(setup, "/S")
    wait((folder / "new" / "app").is_dir, "it unpacks nothing beside what is there")
    half.kill()
    half.wait()
    check(lost.is_file() and installed_version(folder) == version, "a half installation took from the whole one")
    run(setup, "/S")
    whole(folder, version)
    # Into another folder: it moves.
    elsewhere = DRIVE / "other place"
    check(into(setup, windows_path(elsewhere)) == 0, "it cannot move")
    check(installed_version(elsewhere) == version and not folder.exists(), "it lies in two places")
    check(into(setup, windows_path(folder)) == 0 and not elsewhere.exists(), "it cannot move back")
    # An older one over it is a person's decision; a silent run takes it as made.
    run(older, "/S")
    older_version = installed_version(folder)
    check(older_version != version, "the older version did not come")
    # The power failed in the midst of the exchange, and somebody has a file open now: the old program is back.
    (folder / "old").mkdir()
    for part in ("app", "runtime"):
        (folder / part).rename(folder / "old" / part)
    with Held(hold, folder / "installed.json"):
        check(start(setup, "/S").wait(120) == 3, "it takes a file that somebody has open")
        whole(folder, older_version)
        said = run("reg", "query", f"HKCU\\{KEY}", "/v", "DisplayVersion")
        check(older_version.split()[-1] in said, f"Windows' list says {said}, where {older_version} is")
    run(setup, "/S")
    whole(folder, version)
    data = LOCAL / "gpu-assistant"
    check(data.is_dir(), "the program kept no data")
    # What a link in our folders leads to is somebody else's. Wine's RemoveDirectory cannot take a link away, so the
    # folder with it stays here, and goes with the next run; .ci/windows-setup-test.ps1 does the same with junctions.
    other = DRIVE / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("all of it")
    (folder / "app" / "link").symlink_to(other)
    run(setup, "/S")
    check((other / "thesis.txt").is_file(), "an upgrade went through a link")
    (folder / "gone" / "app" / "link").unlink()
    run(setup, "/S")
    whole(folder, version)
    (other / "thesis.txt").unlink()
    other.rmdir()
    # Somebody holds a file for three seconds yet.
    with Held(hold, lost):
        uninstaller = start(folder / "uninstall.exe", "/S")
        wait(lambda: not (folder / "runtime").exists(), "it takes nothing away", 60)
        time.sleep(3)
        check(lost.exists(), "a file that somebody has open is gone")
    check(uninstaller.wait(60) == 0, f"the uninstaller ended with {uninstaller.returncode}")
    wait(lambda: not folder.exists(), "the program's folder stays", 60)
    wait(lambda: not data.exists(), "its data stay", 30)
    folder.parent.rmdir()
    same(files_before, files(), "files")
    same(registry_before, registry(), "registry")


def main(kind: str, setup: str, older: str, shots: str, hold: str) -> int:
    lives = {"clicked": clicked, "silent": silent, "damaged": damaged}
    try:
        lives[kind](Path(setup), Path(older), Camera(Path(shots), kind), Path(hold))
    except Failed as error:
        Camera(Path(shots), kind).shoot("failed")
        print(f"{kind}: {error}\n{log()[-2000:]}")
        return 1
    print(f"{kind}: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
