"""What exists in the world: compatibility data with its sources and dates, read from `resources/catalog/`."""
