"""The test program: `program.py` runs in an environment's own Python, with torch and nothing of this package's.

It writes JSON lines, which `health/child_protocol.py` reads:

    {"start": {...}}                   torch's version and the devices, once
    {"begin": check, "device": ...}    before each check
    {"at": {...}}, {"load": {...}}     progress of a check; speed of the long load, once a second
    {"check": {...}}                   the result of a check
    {"end": true}                      the last line
"""
