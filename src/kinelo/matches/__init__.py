"""Files in, Matches out: reading, names, dates, rejects, line-ups, samples."""
