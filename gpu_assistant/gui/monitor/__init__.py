"""The machine just now and over time: sampling for the window, live figures, the Monitor page and its plots."""
