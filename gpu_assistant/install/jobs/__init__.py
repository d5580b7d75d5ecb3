"""Jobs that the faces start: install, uninstall, purge, size probe, create bundle."""
