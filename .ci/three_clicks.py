"""Goes a newcomer's way with the mouse alone: run by `.ci/three-clicks` on a screen with a window manager.

    three_clicks.py PICTURES DATA PROGRAM [ARGUMENT...]

PROGRAM is started as it is; DATA is the folder where it keeps its log and its journal. Where to click is found on the
screen: the one large button in the accent's colour. Three clicks lead to an install that runs and none before that
writes to the journal; when it has ended, one click leads to the window of the first program, whose curve falls.

Everything waits for what it can see (the screen, a window, a file, an exit), never for time alone. Ends with 1 and a
sentence; PICTURES has what the screen showed after each click.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageGrab
from screen import Failed, wait, windows, xdotool

TITLE = "^GPU (Assistant|助手)"
FIRST_PROGRAM_TITLE = "^(Example programs|示例程序)"
COLOURS = json.loads(Path(__file__).parent.parent.joinpath("resources/theme.json").read_text(encoding="utf-8"))
ACCENT, CURVE = (COLOURS["themes"]["light"][token] for token in ("accent", "s2"))
# Pixels. A button holds a word and its padding; a progress bar is lower, a card with the accent's ground higher.
LEAST_WIDTH, BUTTON_HEIGHTS = 80, range(28, 64)
# Of the 30 pixels at which the curve begins above its ground.
LEAST_FALL = 10
READING_SECONDS = 4
# Install is off until the sources of a recommendation have answered. On a busy computer they are asked once more, for
# 20 s, and what is recommended may change.
SOURCES_SECONDS = 22
Pixels = np.ndarray[Any, np.dtype[np.int16]]


class Box(NamedTuple):
    """A rectangle on the screen, in pixels."""

    left: int
    top: int
    right: int
    bottom: int


def look() -> Pixels:
    """What the screen shows: height x width x red, green, blue."""
    return np.asarray(ImageGrab.grab(xdisplay="").convert("RGB"), dtype=np.int16)


def has_colour(pixels: Pixels, colour: str, tolerance: int = 0) -> Any:  # noqa: ANN401 - an array of truth values
    """Which pixels have the colour, each of their parts up to `tolerance` beside it."""
    wanted = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)])
    return (np.abs(pixels - wanted) <= tolerance).all(axis=2)


def primary_buttons(pixels: Pixels) -> list[Box]:
    """Filled rectangles in the accent's colour of a button's size, from the top."""
    filled = has_colour(pixels, ACCENT)
    found = []
    for top in range(len(filled)):
        # Where a run of the colour begins and ends in this line.
        edges = np.flatnonzero(np.diff(np.concatenate(([0], filled[top].astype(np.int8), [0]))))
        for left, right in zip(edges[::2], edges[1::2], strict=True):
            if right - left < LEAST_WIDTH:
                continue
            # Downwards left of the text, where nothing is written.
            column = filled[top:, left + 2]
            height = len(column) if column.all() else int(column.argmin())
            if height in BUTTON_HEIGHTS:
                found.append(Box(int(left), top, int(right), top + height))
            filled[top : top + height, left:right] = False
    return found


class Newcomer:
    """Sees the screen and has a mouse."""

    def __init__(self, pictures: Path) -> None:
        self.pictures = pictures
        self.clicks = 0
        self.began = time.monotonic()
        self.seen: Pixels | None = None  # what was there before the last click
        pictures.mkdir(parents=True, exist_ok=True)

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.began:6.1f} s  {what}", flush=True)

    def keep(self, name: str) -> None:
        """Keep a picture of the screen."""
        Image.fromarray(look().astype(np.uint8)).save(self.pictures / f"{name}.png")

    def primary_button(self, name: str, seconds: float = 60, *, reading: float = READING_SECONDS) -> Box:
        """The place of the one primary button, once the screen shows something new and has stayed as it is for as long
        as a person reads.
        """
        shown, since = look(), time.monotonic()

        def rested() -> list[Box] | None:
            nonlocal shown, since
            now = look()
            if not np.array_equal(shown, now):
                shown, since = now, time.monotonic()
            is_old = self.seen is not None and np.array_equal(self.seen, now)
            return None if is_old or time.monotonic() - since < reading else primary_buttons(now)

        found = wait(rested, f"{name}: no primary button, or the screen does not come to rest", seconds)
        self.keep(name)
        if len(found) != 1:
            raise Failed(f"{name}: {len(found)} primary buttons, at {found}")
        return Box(*found[0])

    def click(self, place: Box) -> None:
        """Press the mouse in the middle of it, and take the pointer away, so that nothing is drawn as hovered."""
        self.seen = look()
        self.clicks += 1
        x, y = (place.left + place.right) // 2, (place.top + place.bottom) // 2
        self.say(f"click {self.clicks} at {x}, {y}, on {place.right - place.left} x {place.bottom - place.top} pixels")
        xdotool("mousemove", "--sync", str(x), str(y), "click", "1")
        xdotool("mousemove", "--sync", "2", "2")


def records(data: Path) -> list[dict[str, Any]]:
    """The whole lines of the journal."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((data / "journal").glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]


def record(data: Path, kind: str) -> dict[str, Any] | None:
    return next((each for each in records(data) if each["record"] == kind), None)


def curve_fall(pixels: Pixels) -> int:
    """How many pixels the first program's curve has fallen, from its first point to its last; 0 while there is none.

    It is the only thing in its colour in the right half of that window.
    """
    words = xdotool("search", "--onlyvisible", "--name", FIRST_PROGRAM_TITLE, "getwindowgeometry", "--shell").split()
    place = {name: int(value) for name, _, value in (word.partition("=") for word in words)}
    if not place:
        return 0
    middle, right = place["X"] + place["WIDTH"] // 2, place["X"] + place["WIDTH"]
    half = pixels[place["Y"] : place["Y"] + place["HEIGHT"], middle:right]
    rows, columns = np.nonzero(has_colour(half, CURVE, 40))
    if not len(rows):
        return 0
    first, last = (rows[columns == column].mean() for column in (columns.min(), columns.max()))
    return int(last - first)


def go(newcomer: Newcomer, data: Path, program: list[str]) -> None:
    # Wine needs pipes where others take files; what the program says is read at its end.
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait(lambda: windows(TITLE) or process.poll() is not None, "no window opens", 120)
        if process.poll() is not None:
            raise Failed(f"it ended at once, with {process.poll()}")
        newcomer.say("a window opens")
        for page in ("1-welcome", "2-computer", "3-recommendation"):
            reading = SOURCES_SECONDS if page == "3-recommendation" else READING_SECONDS
            place = newcomer.primary_button(page, 120, reading=reading)
            if records(data):
                raise Failed(f"{page}: something was changed before the consent")
            newcomer.click(place)
        wait(lambda: record(data, "run-started"), "the third click starts no install", 30)
        newcomer.say(f"installing, after {newcomer.clicks} clicks")
        newcomer.keep("4-install")
        ended = wait(lambda: record(data, "run-ended"), "the install does not end", 600)
        if ended["state"] != "done":
            newcomer.keep("5-not-installed")
            raise Failed(f"the install ended as {ended}")
        newcomer.say("installed")

        newcomer.click(newcomer.primary_button("5-done", 180))
        wait(lambda: windows(FIRST_PROGRAM_TITLE), "the click on the last page opens no window", 30)
        newcomer.say("the window of the first program opens, after one click")
        wait(lambda: curve_fall(look()) >= LEAST_FALL, "the curve of the first program does not fall", 300)
        newcomer.keep("6-learning")
        newcomer.say("its error has fallen by a third")

        xdotool("key", "Escape")
        wait(lambda: not windows(FIRST_PROGRAM_TITLE), "the window of the first program stays open", 30)
        xdotool("key", "alt+F4")
        status = process.wait(60)
        if status != 0:
            raise Failed(f"it ended with {status}")
        newcomer.say("closed")
        wrong = [line for line in log(data).splitlines() if " ERROR " in line or line.startswith("Traceback")]
        if wrong:
            raise Failed(f"its log says {wrong}")
    except (Failed, subprocess.TimeoutExpired):
        newcomer.keep("failed")
        raise
    finally:
        process.kill()
        said = process.communicate()[0].decode("utf-8", "replace").strip()
        if said:
            newcomer.say(f"it said: {said[-2000:]}")


def log(data: Path) -> str:
    file = data / "logs" / "gpu-assistant.log"
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def main(pictures: str, data: str, *program: str) -> int:
    newcomer = Newcomer(Path(pictures))
    try:
        go(newcomer, Path(data), list(program))
    except (Failed, subprocess.TimeoutExpired) as error:
        print(error, *log(Path(data)).splitlines()[-20:], sep="\n")
        return 1
    print("three clicks to installing, one from there to a network that learns: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
