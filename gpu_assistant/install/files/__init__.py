"""Files of an environment: archives, what belongs to whom, staging and removal."""
