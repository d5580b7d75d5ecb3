"""The measurements, run in an environment's own Python with torch and the standard library alone.

Started as a program (`python -I __main__.py`); it speaks JSON lines. Written for every Python and torch of the
catalog, the oldest too.
"""
