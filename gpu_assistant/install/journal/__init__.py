"""The write-ahead journal of effects, their recovery and their way back."""
