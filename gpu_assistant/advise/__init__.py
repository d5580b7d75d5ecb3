"""What a machine should have, and why: pure functions of machine, catalog and wish, without any I/O of their own.

`recommend.py` is the door. `cards.py` names the cards, `builds.py` knows which PyTorch build has code for
which card, `drivers.py` what each build asks of the driver and what each card can get, `pick.py` brings
the three together, `pythons.py` chooses the Python, `choices.py` judges what the user picked by hand,
`wheelhouse.py` what a local source offers, `systems.py` whether the operating system is new enough,
`cudnn.py` whether the cuDNN inside is made for the card, `cautions.py` what the user should know before going on.
"""
