"""Is there a newer version, who says so, and how does it get here? Shown, never forced; nothing is sent."""
