"""A folder with everything that one plan needs, for computers without internet."""
