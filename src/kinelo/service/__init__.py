"""A rating book over HTTP and JSON (``kinelo serve``)."""
