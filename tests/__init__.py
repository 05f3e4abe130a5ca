"""The test suite; `make test` provides every server it needs."""
