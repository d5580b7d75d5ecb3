"""The downloader against a server that misbehaves."""
