"""*Try it*: a creator answers a draft, and no answer is stored."""

from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus

from flask import Response, abort, render_template, request, url_for
from itsdangerous import BadData
from itsdangerous.url_safe import URLSafeSerializer
from limits import parse_many
from pydantic import TypeAdapter

from webapp.answers import answering, follow_up_decisions, trial as trials
from webapp.answers.session import QuestionNumber, Step, most_asked_with, read_place
from webapp.answers.trial import Decided, NoRoom, Trial
from webapp.base.config import settings
from webapp.base.database import release_connections, utc_now
from webapp.base.errors import InvalidInput, PageCode
from webapp.drafts import agreement, publishing
from webapp.follow_ups import messages, model_exchange, rules
from webapp.follow_ups.rules import Decision, Reason, Thread
from webapp.pages.creator import agreements
from webapp.pages.creator.request import creator_blueprint, creator_id
from webapp.pages.fragments import go_to, typed_text
from webapp.records import drafts
from webapp.records.responses import counters, models
from webapp.web import languages, security_headers
from webapp.web.limiter import limiter
from webapp.web.wakeups import NoSlot, wakeups

CARRIED_MAX_CHARS = 512 * 1024  # leaves room for one more answer in a form's body
TRIAL = TypeAdapter(Trial)


def carry(trial: Trial, draft: drafts.Draft) -> str:
    """Serialise and sign the trial and the draft's content hash for a hidden field."""
    return str(_signer(draft).dumps([draft.content_hash, asdict(trial)]))


def require_room(trial: Trial, draft: drafts.Draft) -> None:
    """Raise InvalidInput `answer_too_long` if the hidden field cannot hold the trial."""
    longest = max(map(len, (*trial.answers.values(), *trial.unsent.values())), default=0)
    if longest > models.ANSWER_MAX_CHARS or len(carry(trial, draft)) > CARRIED_MAX_CHARS:
        raise InvalidInput(
            PageCode.ANSWER_TOO_LONG,
            "That is more than this page can carry along.",
            "Shorten it, or start over.",
            field="answer",
        )


def read_carried(text: str, draft: drafts.Draft) -> Trial | None:
    """Return the trial in a value of `carry`, None if the draft's content has changed since.

    Raises InvalidInput `form_unreadable` for any other text, such as the value of another draft.
    """
    with suppress(BadData, ValueError):  # made for another draft, or by another version
        content_hash, values = _signer(draft).loads(text)
        return TRIAL.validate_python(values) if content_hash == draft.content_hash else None
    raise InvalidInput(
        PageCode.FORM_UNREADABLE,
        "This page was not sent as it was made.",
        "Nothing was changed. Open the draft, and try it once more.",
    )


def _signer(draft: drafts.Draft) -> URLSafeSerializer:
    return URLSafeSerializer(settings().secret_key, salt=f"trial of {draft.id}")


MODEL_RATE = "30/minute;500/day"  # model calls of one account; beyond them the rules decide
CALLS_AT_ONCE = 2  # of one account; the other slots are for respondents


def decide(trial: Trial, draft: drafts.Draft, step: Step) -> Trial:
    """Return the trial with the follow-up decision on an answer; a model may take four seconds."""
    due = trials.to_decide(trial, draft, step, page_language=languages.page_language().tag)
    if due is None:
        return trial
    if isinstance(due, NoRoom):
        return trials.decide(trial, draft, step, Decided(due), Decision(Reason.NOTHING_LEFT))
    ruled = rules.decide(due)
    # ask only the model that the page named
    has_model = trial.named_model and trial.named_model == settings().follow_up_writer
    asks_model = bool(has_model) and ruled.reason not in follow_up_decisions.HARD_STOPS
    made = _of_model(trial, draft, step, due) if asks_model else None
    decision = made or ruled
    came = Decided(
        decision.reason,
        asked=decision.technique is not None,
        writer=decision.writer or (trial.named_model if made else ""),
        unheard=asks_model and made is None,
    )
    return trials.decide(trial, draft, step, came, decision)


def _of_model(trial: Trial, draft: drafts.Draft, step: Step, thread: Thread) -> Decision | None:
    account, left = draft.account_id, trials.remaining(trial, draft, step)
    brief = messages.Brief(draft.title, draft.goal, draft.private_context)
    release_connections()  # the loaded draft stays usable
    counted = _count_call(account)
    release_connections()
    if not counted:
        return None
    with suppress(NoSlot), wakeups().slot(f"trial {account}", most=CALLS_AT_ONCE):
        return model_exchange.decision_of_model(thread, brief, remaining=left)[0]
    return None


def _count_call(account_id: str) -> bool:
    """Count a call of the model; return False if a limit is reached."""
    limits = parse_many(MODEL_RATE) if settings().write_limits else ()
    return all(
        limiter.limiter.hit(limit, "try_model", account_id) for limit in limits
    ) and counters.spend_other_call(of_server=settings().llm_calls_per_day_total, now=utc_now())


bp = creator_blueprint("trial", "/drafts/<draft_id>/try", limits_writes=False)


@bp.get("", endpoint="begin")
@bp.post("")
def go_on(draft_id: str) -> Response:
    """Show the first question, or answer, skip or leave one and show the next step."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if not draft.questions:
        return go_to(url_for("drafts.review", draft_id=draft.id))
    is_answer = request.method == "POST"
    trial = read_carried(request.form.get("carried", ""), draft) if is_answer else None
    if trial is None:
        new = Trial(_agreement(draft).writer.follow_up_writer)
        return _page(draft, new, QuestionNumber(1), has_changed=is_answer)
    step = _posted_step(trial, draft)
    if step is None:  # posted from the end page, which can open any question
        return _page(draft, trial, _posted_place("open"))
    try:
        return _gone_on(draft, trial, step)
    except InvalidInput as error:
        return _page(draft, trial, step.place, error=error)


def _gone_on(draft: drafts.Draft, trial: Trial, step: Step) -> Response:
    """Apply the pressed button; raises InvalidInput for the typed answer."""
    if "open" in request.form:
        left = trials.leave(trial, step, _typed())
        require_room(left, draft)
        return _page(draft, left, _posted_place("open"))
    if "skip" in request.form:
        typed = _typed() if step.question_id not in trial.answers else ""
        skipped = trials.skip(trials.leave(trial, step, typed), draft, step)
        require_room(skipped, draft)
        return _page(draft, skipped, trials.steps_of(skipped, draft).next_place(step.place))
    answering.require_answer(_typed(), spoken=False)
    answered = trials.answer(trial, step, _typed())
    require_room(answered, draft)
    decided = decide(answered, draft, step)
    return _page(draft, decided, trials.steps_of(decided, draft).next_place(step.place))


def _agreement(draft: drafts.Draft) -> agreement.Agreement:
    """Return how answers are processed; for a published form, only as its creator agreed."""
    offered = agreements.offered().used_by(draft)
    form = publishing.find_published_form(draft.id)
    if form is None:
        return offered
    agreed = agreement.agreement_of(form)
    return agreement.Agreement(
        offered.voice if agreed.voice.records_voice else agreement.TYPED,
        offered.writer if agreed.writer == offered.writer else agreement.BY_RULES,
    )


def _posted_step(trial: Trial, draft: drafts.Draft) -> Step | None:
    """Return the step of the posted page, None for the end; 404 if it was never asked."""
    place = _posted_place("place") if "place" in request.form else None
    step = trials.steps_of(trial, draft).at(place) if place else None
    if step is None and "place" in request.form:
        abort(HTTPStatus.NOT_FOUND)
    return step


def _posted_place(name: str) -> QuestionNumber | None:
    """Return the place in a posted field, None (the end) if it is empty; 404 if invalid."""
    path = request.form.get(name, "")
    return read_place(path) or (abort(HTTPStatus.NOT_FOUND) if path else None)


def _typed() -> str:
    """Return the typed answer, with U+0000 replaced as in stored answers."""
    return typed_text("answer").replace("\0", "\ufffd")


def _page(
    draft: drafts.Draft,
    trial: Trial,
    place: QuestionNumber | None,
    *,
    error: InvalidInput | None = None,
    has_changed: bool = False,
) -> Response:
    """Show the question at a place, or the end page for None."""
    steps, text = trials.steps_of(trial, draft), ""
    step = steps.at(place) if place else None
    if place and step is None:
        abort(HTTPStatus.NOT_FOUND)
    if step:
        left = trial.unsent.get(step.question_id, trial.answers.get(step.question_id, ""))
        text = _typed() if error else left
    terms = _agreement(draft)
    if terms.voice.records_voice:
        security_headers.allow_microphone()
    numbered = enumerate(draft.questions, start=1)
    body = render_template(
        "trial/question.html" if step else "trial/end.html",
        draft=draft,
        trial=trial,
        carried=carry(trial, draft),
        step=step,
        steps=steps.in_order,
        after={each.question_id: trials.decided_after(trial, each) for each in steps.in_order},
        back=steps.place_before(step.place) if step else steps.in_order[-1].place,
        is_settled=steps.next_place() is None,
        takes_along=step is not None and steps.has_answered_follow_ups(step),
        answered={number for number, question in numbered if question["id"] in trial.answers},
        text=text,
        error=error,
        has_changed=has_changed,
        most_questions=most_asked_with(terms.writer.follow_up_writer, draft),
        terms=terms,
    )
    status = HTTPStatus.CONFLICT if has_changed else HTTPStatus.OK
    return Response(body, HTTPStatus.UNPROCESSABLE_ENTITY if error else status)
