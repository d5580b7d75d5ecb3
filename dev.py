"""Sets the program up in this folder and starts it, or its tests. Needs nothing but Python 3.11 or newer.

python3 dev.py open [ARGUMENTS]     set up (first time), then open the program
python3 dev.py test [ARGUMENTS]     set up (first time), then run the tests; ARGUMENTS go to pytest:
                                    "dev.py test tests/install" runs the tests of one package
python3 dev.py lock                 rewrite requirements/*.txt from pyproject.toml
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
# What setting up a part downloads and takes on the disk; the README's table has the same.
SIZES = {"open": ("190 MB", "0.5 GB"), "test": ("230 MB", "0.6 GB")}
LOCKS = {"open": HERE / "requirements/run.txt", "test": HERE / "requirements/dev.txt"}

# What Qt's wheels expect of a Linux desktop: library -> Debian's package. A test asks the wheels.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libbrotlidec.so.1": "libbrotli1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
CHINESE_FONT = "fonts-noto-cjk"
CHINESE_USAGE = """在这个文件夹里做好准备，然后打开程序或运行测试。只需要 Python 3.11 或更新版本。

python3 dev.py open [参数]     做好准备（仅第一次），然后打开程序
python3 dev.py test [参数]     做好准备（仅第一次），然后运行测试；参数会传给 pytest：
                               “dev.py test tests/install”只运行一个包的测试
python3 dev.py lock            根据 pyproject.toml 重新生成 requirements/*.txt
"""
# Groups whose members may use sudo: Debian's, the older Ubuntu's, Fedora's and Arch's.
SUDO_GROUPS = ("sudo", "admin", "wheel")
# What pip and apt say when nothing answers.
OFFLINE = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|getaddrinfo failed|ConnectTimeout"
    r"|Network is unreachable|Could not resolve|Temporary failure resolving|Could not connect|Cannot initiate the conn"
)
DOWNLOADED = re.compile(r"\s*Downloading (?:\S*/)?(?P<name>[^/\s-]+)-\S+ \((?P<size>[\d.]+ [kMG]?B)\)")


class SetupError(Exception):
    """Setting up cannot go on; the message says why and what to do, for a person."""


def main(arguments: list[str]) -> int:
    """Set up what is missing and run the asked part; returns its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the one file that an old Python may meet
        # In both languages: an old Python may not load the module that knows the user's.
        print(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.", file=sys.stderr)
        print(f"需要 Python 3.11 或更新版本，现在的是 {sys.version.split()[0]}。", file=sys.stderr)
        return 2
    if not arguments or arguments[0] not in ("open", "test", "lock"):
        print(localize(__doc__ or "", CHINESE_USAGE), file=sys.stderr)
        return 2
    part, *rest = arguments
    try:
        set_up("test" if part == "lock" else part)
        return start(part, rest)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say(localize("Stopped. Run the same command again to continue.", "已停止。再运行同一个命令会继续。"))
        return 3


def start(part: str, arguments: list[str]) -> int:
    """Run a part in `.venv`; its exit code."""
    if part == "lock":
        lock()
        return 0
    if part == "test":
        # Processes side by side, each with tests of its own; who is done first takes from the others. Two more than
        # cores: many tests wait, for time to pass or for a process.
        together = (f"--numprocesses={(os.cpu_count() or 1) + 2}", "--dist=worksteal")
        # Modules are compiled once, not by each of these processes and of the thousands that the tests start.
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return subprocess.call([PYTHON, "-m", "pytest", *together, *arguments], cwd=HERE, env=environ)
    return subprocess.call([PYTHON, "-m", "gpu_assistant", *arguments])


def set_up(part: str) -> None:
    """Make `.venv` and install the locked packages, unless that was done already. Raises SetupError."""
    system_packages()
    stamp = VENV / ".locks"
    done = set(stamp.read_text(encoding="utf-8").splitlines()) if stamp.exists() else set()
    if {made_with(), wanted(part)} <= done and PYTHON.exists():
        return
    if not os.access(VENV if VENV.exists() else HERE, os.W_OK):
        raise SetupError(
            localize(
                f"{HERE} cannot be written to, and the packages go there (.venv).\n"
                "Copy the folder to a place of your own, and run the same command there.",
                f"无法写入 {HERE}，而软件包要装在那里（.venv）。\n"
                "请把这个文件夹复制到你自己的位置，再在那里运行同一个命令。",
            )
        )
    downloaded, on_disk = SIZES[part]
    say(
        localize(
            f"Setting up: downloads up to {downloaded}, needs about {on_disk} of disk space and a few minutes.",
            f"正在做准备：最多下载 {downloaded}，约占磁盘 {on_disk}，需要几分钟。",
        )
    )
    before = stamp.read_bytes() if stamp.exists() else b""
    # A set-up that is cut off leaves no stamp, and the next one starts anew: quick, and sure.
    stamp.unlink(missing_ok=True)
    if made_with() not in done or not PYTHON.exists():
        before, done = b"", set()
        make_environment()
    try:
        pip("--require-hashes", "-r", LOCKS[part])
        pip("--no-deps", "--no-build-isolation", "--editable", HERE)
    except SetupError:
        if before:
            stamp.write_bytes(before)  # pip left what there was
        raise
    stamp.write_text("\n".join(stamp_lines(part, done)) + "\n", encoding="utf-8")
    chinese_font_hint()


def made_with() -> str:
    """The line of the stamp that ties `.venv` to the Python that made it and to its folder."""
    return f"python {sys.version.split()[0]} {sys.base_prefix} {VENV}"


def wanted(part: str) -> str:
    """The line of the stamp that says which packages a part has."""
    return f"{part} {digest(LOCKS[part])} {digest(HERE / 'pyproject.toml')}"


def stamp_lines(part: str, done: Iterable[str]) -> list[str]:
    """The stamp once a part is set up: lines of other locks than today's say what was there once."""
    others = [line for line in map(wanted, LOCKS) if line in done and line != wanted(part)]
    return [made_with(), wanted(part), *others]


def make_environment() -> None:
    """A new, empty `.venv`. Raises SetupError."""
    # Started with .venv's own Python, that one is not to replace itself.
    base = getattr(sys, "_base_executable", None) or sys.executable
    done = subprocess.run([base, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False)
    if done.returncode:
        why = localize(f"Python could not create {VENV}; the reason is above.", f"Python 无法创建 {VENV}，原因见上。")
        raise SetupError(f"{(done.stdout + done.stderr).strip()}\n{why}")


def pip(*arguments: str | Path) -> None:
    """Install packages and show which ones are being downloaded. Raises SetupError."""
    command = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", *arguments]
    environ = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=HERE, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if progress(line):
                say(progress(line))
    if process.returncode:
        raise SetupError(trouble(localize("pip could not install the packages", "pip 没能装好软件包"), lines))


def progress(line: str) -> str:
    """What a line of pip's tells a person who waits; "" for most."""
    file = DOWNLOADED.match(line)
    if file and file["size"].endswith(("MB", "GB")):
        name, size = file["name"].replace("_", "-"), file["size"]
        return localize(f"  Downloading {name} ({size})", f"  正在下载 {name}（{size}）")
    # The last step of many packages at once; the program itself, put in after them, is one.
    if line.startswith("Installing collected packages") and "," in line:
        return localize("  Installing the packages", "  正在安装软件包")
    return ""


def trouble(what: str, lines: Sequence[str]) -> str:
    """What went wrong, why, and what to do; `lines` are what pip or apt said."""
    if any(OFFLINE.search(line) for line in lines):
        return localize(
            f"{what}: no server answered. Connect to the internet (if there is a proxy, put it into the variable\n"
            "https_proxy), then run the same command again.",
            f"{what}：没有服务器响应。请连上网络（需要代理时写在环境变量 https_proxy 里），再运行同一个命令。",
        )
    return "".join(lines[-15:]) + localize(
        f"\n{what}; the reason is above. Fix that, then run the same command again.",
        f"\n{what}，原因见上。解决后再运行同一个命令。",
    )


def system_packages() -> None:
    """On Debian and its children: install what Qt's wheels and venv expect. Raises SetupError where that is missing and
    cannot be installed from here.
    """
    if WINDOWS or sys.platform == "darwin":
        return
    libraries = [library for library in QT_LIBRARIES if not loads(library)]
    packages = {QT_LIBRARIES[library] for library in libraries}
    try:
        import ensurepip  # noqa: F401 - Debian packs it apart
    except ImportError:
        packages.add(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
        libraries.append(localize("Python's venv and ensurepip", "Python 的 venv 和 ensurepip"))
    if not packages:
        return
    apt = shutil.which("apt-get")
    if apt is None:
        raise SetupError(
            localize(
                f"Install these with your system's package manager, then try again: {', '.join(libraries)}",
                f"请用系统的软件包管理器安装这些，再试一次：{'、'.join(libraries)}",
            )
        )
    update = (apt, "-q", "update")
    install = (apt, "-q", "install", "-y", "--no-install-recommends", *sorted(packages))
    first = rights()
    if first is None:
        command = as_root(update, install, sudo=has_sudo())
        raise SetupError(
            localize(
                f"These system packages are missing: {', '.join(sorted(packages))}.\n"
                f"Run this, then the same command again:\n\n    {command}\n",
                f"缺少这些系统软件包：{'、'.join(sorted(packages))}。\n"
                f"请运行下面这行，再运行同一个命令：\n\n    {command}\n",
            )
        )
    names = ", ".join(sorted(packages))
    say(localize(f"Installing system packages with apt: {names}", f"正在用 apt 安装系统软件包：{names}"))
    quiet = (*first, "env", "DEBIAN_FRONTEND=noninteractive")
    lines: list[str] = []
    for run in (update, (*install, "-o", "DPkg::Lock::Timeout=120")):
        done = subprocess.run([*quiet, *run], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        lines += done.stdout.splitlines(keepends=True)
    if done.returncode:  # an update that failed may still do: the lists may be there
        raise SetupError(trouble(localize("apt could not install the packages", "apt 没能装好软件包"), lines))


def rights() -> tuple[str, ...] | None:
    """What goes before a command that root must run; None where this user cannot run one from here."""
    if os.geteuid() == 0:
        return ()
    # sudo asks for the password on the terminal.
    return ("sudo",) if has_sudo() and (sys.stdin.isatty() or sudo_asks_nothing()) else None


def has_sudo() -> bool:
    """Whether this user may use sudo."""
    if shutil.which("sudo") is None:
        return False
    import grp

    names = set()
    for group in os.getgroups():
        try:
            names.add(grp.getgrgid(group).gr_name)
        except KeyError:  # a group without a name
            continue
    return not names.isdisjoint(SUDO_GROUPS) or sudo_asks_nothing()


def sudo_asks_nothing() -> bool:
    """Whether sudo lets this user through without a password."""
    return subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0


def as_root(*commands: Sequence[str], sudo: bool) -> str:
    """One line for a shell that runs the commands as root; su asks for root's own password."""
    script = " && ".join(shlex.join([Path(command[0]).name, *command[1:]]) for command in commands)
    # A login shell: without it Debian's root misses /usr/sbin, and dpkg refuses.
    return shlex.join(["sudo", "sh", "-c", script] if sudo else ["su", "-", "-c", script])


def chinese_font_hint() -> None:
    """Say that Chinese letters would be boxes, where no font has them."""
    if not WINDOWS and sys.platform != "darwin" and not has_chinese_font():
        name = CHINESE_FONT if shutil.which("apt-get") else "Noto Sans CJK"
        say(
            localize(
                f"No font here has Chinese characters. To use the program in Chinese, install one, such as {name}.",
                f"这个系统没有中文字体，界面上的中文会显示成方框。请安装一种，例如 {name}。",
            )
        )


def has_chinese_font() -> bool:
    """Whether a font has a character of simplified Chinese; True where fontconfig cannot be asked."""
    try:
        fontconfig = ctypes.CDLL("libfontconfig.so.1")
    except OSError:
        return True
    fontconfig.FcNameParse.restype = ctypes.c_void_p
    fontconfig.FcObjectSetBuild.restype = ctypes.c_void_p
    fontconfig.FcFontList.restype = ctypes.POINTER(ctypes.c_int)  # a struct whose first field is the number of fonts
    pattern = ctypes.c_void_p(fontconfig.FcNameParse(b":charset=663e"))  # 显
    fields = ctypes.c_void_p(fontconfig.FcObjectSetBuild(b"family", None))
    fonts = fontconfig.FcFontList(None, pattern, fields)
    return not fonts or fonts[0] > 0


def lock() -> None:
    """Resolve pyproject.toml for every supported system and Python; hashes, no addresses. Raises SetupError."""
    common = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate")
    compile_ = (PYTHON, "-m", "uv", "pip", "compile", "--quiet", "--no-config", *common)
    for more in (
        ("--extra", "dev", "-o", LOCKS["test"]),
        ("--extra", "build", "-c", LOCKS["test"], "-o", LOCKS["open"]),
    ):
        if subprocess.call([*compile_, "pyproject.toml", *more], cwd=HERE):
            raise SetupError(
                localize(
                    "uv could not resolve pyproject.toml; the reason is above.",
                    "uv 无法解析 pyproject.toml，原因见上。",
                )
            )


def digest(path: Path) -> str:
    """sha256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def loads(library: str) -> bool:
    """Whether the dynamic loader finds a library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def localize(english: str, chinese: str) -> str:
    """The text in the user's language; English where the terminal has no Chinese characters."""
    from gpu_assistant.system.language import user_language  # needs Python 3.11, but nothing that is not part of it

    try:
        chinese.encode(sys.stderr.encoding or "ascii")
    except UnicodeEncodeError:
        return english
    return chinese if user_language() == "zh_CN" else english


def say(text: str) -> None:
    """One line for the person who waits."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
