"""The smallest application of the same kind: Flask, waitress and SQLAlchemy, one route."""

import os

import waitress
from flask import Flask
from sqlalchemy import create_engine, text

app = Flask(__name__)
engine = create_engine(os.environ["DATABASE_URL"])


@app.get("/healthz")
def healthz() -> dict[str, int]:
    """One look at the database."""
    with engine.connect() as connection:
        return {"one": connection.execute(text("SELECT 1")).scalar_one()}


if __name__ == "__main__":
    waitress.serve(app, host="127.0.0.1", port=int(os.environ["PORT"]), threads=256, _quiet=True)
