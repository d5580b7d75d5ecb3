"""What is measured in an environment's own Python. Needs torch and the standard library, and knows nothing of us.

Started as a program (`python -I <this folder>`); it speaks JSON lines. Works from the oldest Python and torch of the
catalog on.
"""
