"""What a machine should have, and why: pure functions of machine, catalog and wish, without any I/O of their own.

`recommend.py` is the door; `tensorflow_goal.py` answers for TensorFlow alone. What is here: `cards.py` names the
NVIDIA cards, `team.py` brings several of them together, `others.py` knows AMD's and Intel's. What there is for it:
`builds.py` which PyTorch build has code for which card, `drivers.py` what each build asks of the driver and what
each card can get, `cudnn.py` whether the cuDNN inside serves the card, `pick.py` brings the three together,
`toolkit.py` the CUDA Toolkit and cuDNN for compiling, `tensorflow.py` the TensorFlow, `pythons.py` the Python.
What the user wants: `choices.py` judges a picked PyTorch, `part_choices.py` the other parts, `options.py` what can
be picked at all, `wheelhouse.py` what a local source offers. What is said: `decision.py` holds it all for
`reasons*.py` (why), `cautions.py` (what to know first), `alternatives.py` and `tensorflow_ways.py` (what else works).
"""
