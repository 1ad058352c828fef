"""Study files: what to compute, declared in TOML and checked before anything runs."""

from kinelo.studies.study import Study, parse_study, read_study

__all__ = ["Study", "parse_study", "read_study"]
