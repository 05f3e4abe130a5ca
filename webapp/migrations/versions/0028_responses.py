"""responses, recordings and events"""

import sqlalchemy as sa
from alembic import op

from webapp.migrations.columns import big, boolean, choice, integer, json, serial, string, text

revision = "0028"
down_revision = "0028_forms"

NOTED = "INSERT INTO object_deletions (object_key, noted_at) VALUES (old.object_key, {now})"
NOTE_ON_SQLITE = (
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings BEGIN "
    + NOTED.format(now="CAST(strftime('%s', 'now') AS INTEGER) * 1000")
    + "; END"
)
NOTE_ON_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION note_object_deletion() RETURNS trigger LANGUAGE plpgsql "
    "AS $$ BEGIN "
    + NOTED.format(now="CAST(EXTRACT(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")
    + "; RETURN NULL; END $$",
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings "
    "FOR EACH ROW EXECUTE FUNCTION note_object_deletion()",
)


def upgrade() -> None:
    op.create_table(
        "event_subscriptions",
        string("id", 40),
        string("account_id", 40),
        string("form_id", 40),
        string("grant_id", 40),
        string("endpoint_id", 64),
        text("url", null=True),
        string("host", 260),
        text("secret", null=True),
        text("previous_secret", null=True),
        big("previous_until", null=True),
        big("created_at"),
        big("refreshed_at"),
        big("expires_at"),
        big("suspended_at", null=True),
        integer("gone_count"),
        boolean("dropped"),
        choice("error_profile", "plain", "extension"),
        big("last_delivery_at", null=True),
        choice(
            "last_failure",
            "connection_refused",
            "timeout",
            "tls_error",
            "http_4xx",
            "http_5xx",
            "challenge_failed",
            null=True,
        ),
        big("ended_at", null=True),
        choice("end_reason", "unsubscribed", "disconnected", "revoked", "expired", null=True),
        sa.ForeignKeyConstraint(["endpoint_id"], ["callback_endpoints.id"]),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_event_subscriptions_ending", "event_subscriptions", ["ended_at", "expires_at"]
    )
    op.create_index("ix_event_subscriptions_endpoint_id", "event_subscriptions", ["endpoint_id"])
    op.create_index("ix_event_subscriptions_grant_id", "event_subscriptions", ["grant_id"])
    op.create_index(
        "ix_event_subscriptions_of_account",
        "event_subscriptions",
        ["account_id", "ended_at", "expires_at"],
    )
    op.create_index(
        "ix_event_subscriptions_of_form",
        "event_subscriptions",
        ["form_id", "ended_at", "expires_at"],
    )
    op.create_table(
        "link_openings",
        string("form_id", 40),
        big("opened"),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("form_id"),
    )
    op.create_table(
        "question_counts",
        string("form_id", 40),
        string("question_id", 200),
        integer("answered"),
        integer("skipped"),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("form_id", "question_id"),
    )
    op.create_table(
        "response_sessions",
        string("id", 40),
        string("form_id", 40),
        string("key_hash", 64),
        choice("status", "in_progress", "completed", "abandoned"),
        text("responder_name", null=True),
        json("skipped"),
        json("answered"),
        integer("answer_count"),
        boolean("suspect"),
        big("created_at"),
        big("last_active_at"),
        big("completed_stamp", null=True),
        big("read_stamp", null=True),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("form_id", "completed_stamp"),
        sa.UniqueConstraint("key_hash"),
    )
    op.create_index(
        "ix_response_sessions_listed", "response_sessions", ["form_id", "created_at", "id"]
    )
    op.create_index(
        "ix_response_sessions_suspect",
        "response_sessions",
        ["form_id", "suspect", "id"],
        sqlite_where=sa.text("suspect IS 1"),
    )
    op.create_table(
        "answers",
        string("id", 40),
        string("form_id", 40),
        string("session_id", 40),
        string("question_id", 200),
        text("question_text"),
        text("answer_text"),
        choice("response_type", "voice", "text"),
        choice("question_kind", "scripted", "followup"),
        string("parent_question_id", 200, null=True),
        string("answer_key", 64),
        integer("word_count", default="0"),
        boolean("superseded"),
        big("stamp"),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["response_sessions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("form_id", "stamp"),
        sa.UniqueConstraint("session_id", "answer_key"),
    )
    op.create_index(
        "ix_answers_of_question",
        "answers",
        ["form_id", "question_id", "superseded", "stamp", "word_count"],
    )
    op.create_table(
        "event_deliveries",
        string("id", 80),
        string("account_id", 40),
        string("form_id", 40),
        string("subscription_id", 40),
        string("endpoint_id", 64),
        string("host", 260),
        choice("kind", "event", "terminated"),
        string("event_id", 64),
        integer("answer_count"),
        big("position"),
        text("body", null=True),
        choice("state", "pending", "sending", "delivered", "dropped", "abandoned", "cancelled"),
        integer("attempts"),
        big("next_at"),
        big("lease_until", null=True),
        integer("renewals", null=True),
        big("created_at"),
        big("settled_at", null=True),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["subscription_id"], ["event_subscriptions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("event_id", "subscription_id"),
    )
    op.create_index(
        "ix_event_deliveries_due", "event_deliveries", ["state", "subscription_id", "next_at"]
    )
    op.create_index(
        "ix_event_deliveries_listed", "event_deliveries", ["account_id", "created_at", "id"]
    )
    op.create_index("ix_event_deliveries_of_form", "event_deliveries", ["form_id"])
    op.create_index(
        "ix_event_deliveries_positions",
        "event_deliveries",
        ["subscription_id", "state", "position"],
    )
    op.create_index(
        "ix_event_deliveries_settled",
        "event_deliveries",
        ["settled_at"],
        sqlite_where=sa.text("settled_at IS NOT NULL"),
    )
    op.create_table(
        "handovers",
        string("id", 40),
        string("form_id", 40),
        string("session_id", 40),
        string("secret_hash", 64),
        text("sealed_key"),
        string("claimed_by", 64, null=True),
        big("expires_at"),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["response_sessions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
        sa.UniqueConstraint("session_id"),
    )
    op.create_table(
        "response_deletions",
        string("id", 40),
        string("form_id", 40),
        string("session_id", 40, null=True),
        integer("response_count"),
        big("scheduled_at"),
        big("begun_at", null=True),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["response_sessions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("session_id"),
    )
    op.create_index("ix_response_deletions_form_id", "response_deletions", ["form_id"])
    op.create_index("ix_response_deletions_scheduled_at", "response_deletions", ["scheduled_at"])
    op.create_table(
        "delivery_attempts",
        serial("id"),
        string("delivery_id", 80),
        string("form_id", 40),
        integer("number"),
        big("started_at"),
        integer("duration_ms"),
        text("signature"),
        integer("status", null=True),
        choice(
            "failure",
            "connection_refused",
            "timeout",
            "tls_error",
            "http_4xx",
            "http_5xx",
            "challenge_failed",
            null=True,
        ),
        text("reply", null=True),
        sa.ForeignKeyConstraint(["delivery_id"], ["event_deliveries.id"]),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("delivery_id", "number"),
    )
    op.create_index("ix_delivery_attempts_of_form", "delivery_attempts", ["form_id"])
    op.create_table(
        "follow_ups",
        string("id", 40),
        string("form_id", 40),
        string("session_id", 40),
        string("parent_question_id", 200),
        string("answer_id", 40),
        choice("state", "claimed", "asked", "nothing", constraint="follow_up_state"),
        integer("depth", null=True),
        text("question_text"),
        string("technique", 32, null=True),
        string("reason", 32, null=True),
        string("writer", 500),
        string("model_outcome", 32, null=True),
        big("lease_until", null=True),
        big("created_at"),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"]),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["response_sessions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("answer_id"),
        sa.UniqueConstraint("session_id", "parent_question_id", "depth"),
    )
    op.create_index("ix_follow_ups_form_id", "follow_ups", ["form_id"])
    op.create_table(
        "recordings",
        string("id", 40),
        string("form_id", 40),
        string("question_id", 200),
        string("key_hash", 64),
        string("upload_key", 64),
        string("session_id", 40, null=True),
        string("answer_id", 40, null=True),
        string("object_key", 200),
        string("media_type", 40),
        integer("size"),
        integer("duration_ms"),
        string("levels", 64, null=True),
        string("transcriber", 260, default=""),
        choice("transcript_state", "waiting", "none", "silent", "done", "failed"),
        text("transcript", null=True),
        integer("attempts"),
        big("next_at", null=True),
        big("lease_until", null=True),
        string("address_hash", 64, null=True),
        big("created_at"),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"]),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["response_sessions.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key_hash", "upload_key"),
        sa.UniqueConstraint("object_key"),
    )
    op.create_index("ix_recordings_claimed", "recordings", ["answer_id", "created_at"])
    op.create_index("ix_recordings_due", "recordings", ["next_at"])
    op.create_index("ix_recordings_of_address", "recordings", ["address_hash", "created_at"])
    op.create_index("ix_recordings_of_form", "recordings", ["form_id", "answer_id", "created_at"])
    op.create_index(
        "ix_recordings_of_question", "recordings", ["form_id", "key_hash", "question_id"]
    )
    op.create_index("ix_recordings_session_id", "recordings", ["session_id"])
    for statement in (
        [NOTE_ON_SQLITE] if op.get_bind().dialect.name == "sqlite" else NOTE_ON_POSTGRESQL
    ):
        op.execute(statement)
