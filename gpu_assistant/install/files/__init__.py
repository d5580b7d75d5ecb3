"""Files that we put on the disk: archives, which files are ours, staging and removal."""
