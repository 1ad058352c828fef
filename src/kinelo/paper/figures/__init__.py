"""The figures of the report, a folder each: its study, its evidence, its drawing, and what the paper says of it."""
