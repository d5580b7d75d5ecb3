"""NVML, NVIDIA's management library, through nvidia-ml-py.

From a call of NVML to a row of the history:

    library.NvmlLibrary      one session: init, the list of GPUs, Xid events, shutdown; the only importer of pynvml
    query.NvmlQuery          one call of one GPU: buffers are made once, unsupported functions are called once
    device.NvmlDevice        groups of figures, each read at its own interval                        -> GpuSample
    monitor.NvmlMonitor      all GPUs: opens again after errors, lets them sleep, keeps their order  -> GpuSamples
    monitor/sampler.py       NonBlockingSampler asks it in a thread, Sampler adds CPU and memory     -> Sample
    monitor/series.py        SeriesExtractor: names like "GPU-….temp" or "cpu"                       -> values by name
    monitor/history.py       History: mean, lowest and highest of each second, 10 s, minute          -> RingBuffer, disk
"""
