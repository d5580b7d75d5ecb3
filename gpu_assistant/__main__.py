"""Entry point of `gpu-assistant` and `python -m gpu_assistant`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; without a command it opens the window. Returns the exit code."""
    # Internal, not an option of the command line: starts the helper process with administrator rights.
    if sys.argv[1:2] == ["--administrator-door"]:
        from .install.elevation.helper import main as serve

        return serve(sys.argv[2:])
    if sys.argv[1:2] == ["--at-login"]:
        from .system import start_at_login

        return start_at_login(sys.argv[2:])
    try:
        from .cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # also while the program itself is still being loaded
        return _stopped()


def _stopped() -> int:
    """Say that Ctrl+C ended it; the exit code for that."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who presses twice is answered once
    from .cli.main import exit_code_for_interrupt

    return exit_code_for_interrupt(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
