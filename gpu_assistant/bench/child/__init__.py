"""What is measured in an environment's own Python. Needs torch and the standard library, and knows nothing of us.

Started as a program (`python -I __main__.py`); it speaks JSON lines. Written for every Python and torch of the
catalog, the oldest too.
"""
