"""`askback doctor`: checks an installation before people rely on it."""

import resource
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from webapp.app.background import count_without_object
from webapp.base.config import Settings
from webapp.base.data_folder import is_private
from webapp.base.database import db, schema, utc_now
from webapp.events.due import read_queue_state
from webapp.events.subscriptions import count_sealed_otherwise
from webapp.records.accounts.models import Account
from webapp.records.follow_ups import ModelOutcome, count_outcomes
from webapp.voice import audio_inspection, transcripts, uploads
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store
from webapp.voice.child_process import ChildBusy
from webapp.web.health import redis_state

LATE_SECONDS = 120  # of a delivery: no worker runs, or too few
UNHEARD_SECONDS = 1800  # of a recording: nothing transcribes it, or too slowly
MODEL_TIME = timedelta(days=7)
ERASED_SECONDS = 60  # in which the object of a withdrawn recording is erased
OPEN_FILES = 4096  # for a server with all its slots for waiting agents in use
DURABLE: dict[str, dict[str, str | int]] = {
    "postgresql": {
        "SHOW fsync": "on",
        "SHOW synchronous_commit": "on",
        "SHOW full_page_writes": "on",
    },
    "sqlite": {"PRAGMA journal_mode": "wal", "PRAGMA synchronous": 2},
}
NO_ACCOUNT = "accounts: none; make one with: askback creator link"
LACKS = (
    "limits alone, without {}: use Linux from 5.13 on x86_64 or aarch64 with landlock in its lsm= "
    "list, and a container whose seccomp profile permits both"
)
OUTCOMES = {
    ModelOutcome.WROTE: "questions written",
    ModelOutcome.PICKED: "prepared questions picked",
    ModelOutcome.SILENT: "silent",
    ModelOutcome.LATE: "too late",
    ModelOutcome.FAILED: "failed",
}
OF_USE = (ModelOutcome.WROTE, ModelOutcome.PICKED, ModelOutcome.SILENT)


class Finding(NamedTuple):
    """The result of one check; `fine` is False if the operator should change something."""

    fine: bool
    what: str


def examine(settings: Settings) -> Iterator[Finding]:
    """Run all checks, the most important ones first; needs an application context."""
    yield Finding(fine=True, what=f"Askback lives at {settings.public_url}")
    folder = settings.data_folder
    if folder.exists():
        fine = is_private(folder)
        found = "readable by its owner alone" if fine else "others can read or own it: chmod 700"
        yield Finding(fine, f"data folder {folder}: {found}")
    kind = db.engine.dialect.name
    try:
        yield from _database(settings, kind, utc_now())
    except SQLAlchemyError as error:
        yield Finding(fine=False, what=f"{kind}: {getattr(error, 'orig', error)}")
    state = redis_state(settings.redis_url)
    yield Finding(state != "degraded", f"Redis: {state}")
    # subscribers can send requests to these; the next two get what people say and write
    origins = (
        ", ".join(sorted(settings.mcp_events_callback_allowlist)) or "no origin of your network"
    )
    yield Finding(fine=True, what=f"events also go to: {origins}")
    host, model = settings.transcriber_host, settings.transcriber_model
    by = f"{host}, with the model {model}" if host else "nobody"
    yield Finding(fine=True, what=f"recordings are written down by: {by}")
    yield _audio_child()
    writer = settings.follow_up_writer or "the built-in rules"
    yield Finding(fine=True, what=f"follow-up questions are written by: {writer}")
    if settings.secure:
        proxy = settings.trusted_proxy
        what = proxy or "none: all visitors share the address of the proxy"
        yield Finding(proxy is not None, f"trusted proxy: {what}")
    if not settings.on_loopback:  # respondents must be able to find out who stores their answers
        given = {
            "OPERATOR_NAME": settings.operator_name,
            "OPERATOR_CONTACT": settings.operator_contact,
        }
        missing = " and ".join(variable for variable, value in given.items() if value is None)
        what = f"set {missing}" if missing else str(settings.operator_name)
        yield Finding(not missing, f"operator named on /privacy: {what}")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = files == resource.RLIM_INFINITY or files >= OPEN_FILES
    yield Finding(enough, f"open files allowed: {files}, wanted: {OPEN_FILES}")


def _database(settings: Settings, kind: str, now: datetime) -> Iterator[Finding]:
    """Check the schema, the settings and overdue work of the database. raises SQLAlchemyError"""
    refusal = schema.refusal()
    yield Finding(refusal is None, f"{kind}: {refusal or 'the schema is current'}")
    with db.engine.connect() as connection:
        for question, wanted in DURABLE[kind].items():
            found = connection.scalar(text(question))
            yield Finding(found == wanted, f"{kind}: {question} is {found}, wanted: {wanted}")
    if refusal is not None:
        return
    count = db.session.scalar(select(func.count()).where(Account.deleted_at.is_(None)))
    yield Finding(bool(count), f"accounts: {count}" if count else NO_ACCOUNT)
    queue = read_queue_state(now)
    deliveries = _waiting("deliveries due", queue.due, queue.oldest, now, LATE_SECONDS)
    resting = f"; endpoints that rest after failures: {queue.resting}"
    yield Finding(deliveries.fine, deliveries.what + resting)
    unheard = transcripts.read_unheard(now=now)
    yield _waiting("recordings to look at and to write down", *unheard, now, UNHEARD_SECONDS)
    if settings.follow_up_writer:
        yield examine_model(now)
    yield _data_keys([key_id for key_id, _ in settings.data_keys])
    yield from examine_recordings(settings, now)


def _waiting(
    what: str, count: int, oldest: datetime | None, now: datetime, most_seconds: int
) -> Finding:
    """Report due work; fine unless the oldest piece has waited longer than `most_seconds`."""
    waited = (now - oldest).total_seconds() if oldest else 0
    age = f", the oldest for {waited:.0f} s" if count else ""
    return Finding(waited <= most_seconds, f"{what}: {count}{age}")


def examine_recordings(settings: Settings, now: datetime) -> Iterator[Finding]:
    """Check for missing recordings, overdue erasures, and room for new recordings."""
    store = audio_store()
    try:
        count, missing = count_without_object()
        lost = f", {missing} of them without what was recorded" if missing else ""
        yield Finding(not missing, f"recordings in {store.place}: {count}{lost}")
        room = store.has_room(0)
        what = "there is room for more" if room else "people are told to type"
        yield Finding(room, f"{settings.audio_free_bytes} bytes stay free on the disk: {what}")
    except AudioStoreUnavailable as error:
        yield Finding(fine=False, what=f"recordings in {store.place}: {error}")
    yield _waiting("recordings to erase", *uploads.read_backlog(), now, ERASED_SECONDS)


def _data_keys(key_ids: list[str]) -> Finding:
    """Check that the keys open all secrets, and that only the first key is in use."""
    lost, waiting = count_sealed_otherwise(key_ids), count_sealed_otherwise(key_ids[:1])
    sentence = f"data keys: {', '.join(key_ids)}; {key_ids[0]} encrypts"
    if waiting > lost:
        sentence += f"; {waiting - lost} secrets have to be encrypted anew: askback rekey"
    if lost:
        sentence += f"; {lost} secrets need a key that is not there"
    return Finding(not waiting, sentence)


def _audio_child() -> Finding:
    """Check whether the process that opens recordings would confine hostile code."""
    try:
        lacks = audio_inspection.unconfined()
        found = LACKS.format(lacks) if lacks else "confined by Landlock, seccomp and limits"
    except ChildBusy as error:
        lacks, found = "an answer", str(error)
    return Finding(not lacks, f"the process that opens recordings: {found}")


def examine_model(now: datetime) -> Finding:
    """Report the outcomes of model calls; fine if at least half of them were of use."""
    came, refused = count_outcomes(since=now - MODEL_TIME)
    of_use = sum(came.get(each, 0) for each in OF_USE)
    asked = sum((*came.values(), *refused.values()))
    counts = [f"{came[each]} {name}" for each, name in OUTCOMES.items() if each in came]
    counts += [f"{times} refused ({check})" for check, times in refused.items()]
    sentence = "; ".join([f"{asked} times", ", ".join(counts)] if counts else ["never"])
    return Finding(
        2 * of_use >= asked, f"the model was asked in {MODEL_TIME.days} days: {sentence}"
    )
