"""Where books are kept in tests: in a file, and in a PostgreSQL server of their own where one is installed."""

from postgres_server import address, server  # noqa: F401
