"""Study files: what to compute, declared in TOML and checked before anything runs."""
