"""Pictures of results, readable in print and on dark screens."""
