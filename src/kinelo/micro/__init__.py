"""The microscopic model: matches played one by one, ratings moved after each."""
