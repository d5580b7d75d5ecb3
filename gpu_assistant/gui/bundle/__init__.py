"""A folder with everything for a computer without internet: made here, and used there."""
