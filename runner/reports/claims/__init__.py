"""What a report says, for whoever did not make it: a summary to share, its claims to read."""
