"""Which versions a machine should have, and why. Pure functions of machine, catalog and choice, without any I/O.

    Machine, Catalog, Choice ─→ recommend.recommend ─→ Decision ─→ Recommendation

What there is, and what it demands:
    gpus            the machine's NVIDIA GPUs with their chips
    builds          PyTorch's builds, and how each runs on a chip
    drivers         the driver that a build needs, and those that a GPU can have
    distributions   how a Linux distribution installs that driver
    tensorflow      TensorFlow's releases, judged in the same way

What is chosen:
    candidates      the newest build that fits GPU, driver and system
    multi_gpu       one driver, and one build if possible, for several GPUs
    toolkit         the CUDA Toolkit, cuDNN and the C++ compiler
    python          the interpreter, and builds from the user's wheelhouse
    choices         what the user chose by hand instead
    decision        all of it together, with the advice about the driver
    driver_update   where the driver is too old: the newest release with another, and what works with this one
    installed_torch the PyTorch that is there: whether it uses the GPU, and if not, why

What is said about it, each with the code of a text:
    reasons         why each part, and the few reasons that decide (reasons_driver: the driver; reasons_parts: toolkit,
                    cuDNN, TensorFlow)
    support         holes in drivers, ends of systems, small cards
    warnings        what to know before going on
    alternatives    what else would work

`recommend` imports all of these; `options` stands above it and tries every value that the user could choose.
"""
