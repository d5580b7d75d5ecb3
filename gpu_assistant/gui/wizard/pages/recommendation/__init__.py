"""The page of the recommendation and the plan."""
