"""The catalog's records, a struct for each kind of fact."""
