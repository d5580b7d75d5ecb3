"""The wizard: from the first question to the proof."""
