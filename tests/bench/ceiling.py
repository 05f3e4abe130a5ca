"""What is possible: a bare Flask application under the same server, database and driver.

`/template` looks a form up and renders what a test has left in the data folder.
`/look-up` finds a bearer token by its hash. `/insert` does that and commits one row. `/page` does
it and dumps the tuples of 200 answers, `/list` those of all forms of an account. The selects and
the tables are those of the product.
"""

import secrets

import orjson
from flask import Flask, Response, render_template, request
from jinja2 import FileSystemLoader
from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    insert,
    select,
)

from webapp.base.config import Settings
from webapp.base.database import prepare_engine
from webapp.base.database.sqlite import IMMEDIATE
from webapp.base.text import token_hash
from webapp.oauth.guard import LOOK_UP
from webapp.records.forms import Form, FormSummaryRow
from webapp.records.responses.models import Answer, AnswerRow, raw_column
from webapp.web.wakeups import init_app

ROWS = Table(
    "bench_rows",
    MetaData(),
    Column("id", String(40), primary_key=True),
    Column("form_id", String(40), nullable=False),
    Column("words", String, nullable=False),
    Column("stamp", BigInteger, nullable=False),
)
LISTED = [name for name in FormSummaryRow._fields if name in Form.__table__.c]
PAGE = select(*(getattr(Answer, name) for name in AnswerRow._fields)).order_by(Answer.stamp)
LIST = select(*(raw_column(getattr(Form, name)) for name in LISTED)).order_by(
    Form.published_at.desc()
)
LINK = select(Form.title, Form.questions).where(Form.share_token == bindparam("share_token"))
TEMPLATE = "bare.html"
VALUES = {
    "title": "What went wrong on Tuesday?",
    "question": "What went wrong in step 0?",
    "asker": "Robin Example",
}
WORDS = "The deploy ran twice, because the lock was not taken before the first step."


def create_ceiling(settings: Settings) -> Flask:
    """The bare application; `make_table` was called before."""
    app = Flask(__name__)
    app.config["SETTINGS"] = settings
    init_app(app)
    engine = create_engine(settings.database_url, pool_size=32)
    prepare_engine(engine)
    app.jinja_env.loader = FileSystemLoader(settings.data_folder)
    _add_routes(app, engine, engine.execution_options(**{IMMEDIATE: True}))
    return app


def make_table(engine: Engine) -> None:
    """An empty table for the inserted rows."""
    ROWS.metadata.drop_all(engine)
    ROWS.metadata.create_all(engine)


def _add_routes(app: Flask, reading: Engine, writing: Engine) -> None:
    @app.get("/look-up")
    def look_up() -> Response:
        with reading.connect() as connection:
            found = connection.execute(LOOK_UP, _token()).one()
        return _answer(found[0])

    @app.post("/insert")
    def insert_row() -> Response:
        with writing.begin() as connection:
            found = connection.execute(LOOK_UP, _token()).one()
            row = {"id": secrets.token_hex(12), "form_id": found[0], "words": WORDS, "stamp": 1}
            connection.execute(insert(ROWS), row)
        return _answer(found[0])

    @app.get("/template/<share_token>")
    def template(share_token: str) -> str:
        with reading.connect() as connection:
            connection.execute(LINK, {"share_token": share_token}).one()
        return render_template(TEMPLATE, **VALUES, session=secrets.token_urlsafe(24))

    @app.get("/page/<form_id>")
    def page(form_id: str) -> Response:
        with reading.connect() as connection:
            connection.execute(LOOK_UP, _token()).one()
            rows = connection.execute(PAGE.where(Answer.form_id == form_id).limit(200)).all()
        return _answer([tuple(row) for row in rows])

    @app.get("/list/<account_id>")
    def listing(account_id: str) -> Response:
        with reading.connect() as connection:
            connection.execute(LOOK_UP, _token()).one()
            rows = connection.execute(LIST.where(Form.account_id == account_id)).all()
        return _answer([tuple(row) for row in rows])


def _token() -> dict[str, str]:
    return {"hash": token_hash(request.headers["Authorization"].partition(" ")[2])}


def _answer(body: object) -> Response:
    return Response(orjson.dumps(body), mimetype="application/json")
