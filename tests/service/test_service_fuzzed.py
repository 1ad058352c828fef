"""The description of the service is what it does: requests made of it, right and wrong, are answered as it says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

import kinelo as kn

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
schemathesis = pytest.importorskip("schemathesis", reason="Schemathesis is not installed (kinelo[dev])")
from kinelo.service.app import create_app  # noqa: E402
from kinelo.service.settings import Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
OPERATIONS = ("POST /matches", "POST /contests", "POST /forecast", "POST /quality", "POST /balance", "GET /ratings",
              "POST /next", "POST /preview", "POST /fair", "POST /explain")  # fmt: skip


@pytest.fixture(scope="module")
def description(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzzed") / "book.db"
    book = kn.RatingBook(path, kn.TeamElo.classic(k=24))
    book.update_one("A", "B", "win", match_id="m1", date="2024-05-01")
    app = create_app(Settings(str(path)))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "127.0.0.1"})
    return schema, book


@pytest.mark.parametrize("operation", OPERATIONS)
def test_requests_of_any_kind_are_answered_as_described(description, operation):
    schema, book = description
    method, path = operation.split()
    modes = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    for mode in modes:
        strategy = schema[path][method].as_strategy(generation_mode=mode)

        @settings(settings.default, max_examples=6, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def answered(case) -> None:
            answer = case.call(headers={"Host": "127.0.0.1"})
            case.validate_response(answer, checks=[
                schemathesis.checks.not_a_server_error, schemathesis.checks.status_code_conformance,
                schemathesis.checks.content_type_conformance, schemathesis.checks.response_schema_conformance,
            ])  # fmt: skip
            if answer.status_code != 200:
                assert set(answer.json()) == {"error"} and "\n" not in answer.json()["error"]

        answered()
    assert book.check() == []
