"""Study files: what to compute, declared in TOML and checked before anything runs."""

from kinelo.runtime.extras import require

require("pydantic", "zarr")

from kinelo.studies.study import Study, parse_study, read_study  # noqa: E402 (after the sentence that says what it needs)

__all__ = ["Study", "parse_study", "read_study"]
