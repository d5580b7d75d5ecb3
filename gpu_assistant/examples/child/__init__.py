"""Runs one of the scripts of `resources/examples/` in the environment's own Python, and prints JSON lines.

{"start": {"torch": "2.13.0+cpu", "device": "cpu", "name": null}}   torch has loaded
{"shown": {"step": 20, "steps": 600, "loss": 1.2, "score": 0.4, …}} each call of the script's `show`
{"broken": "ImportError: …"} | {"lacks": "PIL"} | {"error": "…", "memory": true}
{"end": true}                                                       the script has run to its end
"""
