"""Whether this computer is in a network at all."""

from __future__ import annotations

import socket
from contextlib import suppress

# Addresses of nobody, kept for documents: RFC 5737 and RFC 3849.
_DOCUMENTATION_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_DISCARD_PORT = 9


def is_network_available() -> bool:
    """Whether the system knows a way to other computers. Nothing is sent: a datagram only looks for its way."""
    for family, address in _DOCUMENTATION_ADDRESSES:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _DISCARD_PORT))
            return True
    return False
