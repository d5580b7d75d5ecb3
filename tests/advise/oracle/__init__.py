"""A second opinion on every recommendation, written from the facts and not from the recommender.

It imports nothing of `gpu_assistant` and reads the catalog's files as plain JSON; what the catalog is not asked
for (cuDNN's and the toolkits' chips, TensorFlow, AMD's chips) lies in `facts.json` with its sources.
"""
