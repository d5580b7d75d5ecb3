"""What this computer is.

    job.DetectJob      runs all probes side by side, each in a thread with its own time limit
      job.all_probes   one probe for each field of core/machine.Machine
        nvidia.py      driver and GPUs: NVML, nvidia-smi, the kernel module; merged with the adapters and the catalog
        pythons.py     interpreters, and the PyTorch and TensorFlow in them
        cuda.py        CUDA Toolkits and cuDNN
        tools.py       git, conda, compilers, the C++ runtime
      -> ProbeFinished for each probe, and the Machine as far as it is known

A probe reads through `system/`; what it read is parsed by pure functions.
"""
