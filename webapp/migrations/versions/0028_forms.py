"""accounts, their agents, drafts and forms"""

import sqlalchemy as sa
from alembic import op

from webapp.migrations.columns import big, binary, boolean, choice, integer, json, string, text

revision = "0028_forms"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        string("id", 40),
        string("email", 254),
        string("name", 80),
        string("password_hash", 255),
        integer("session_epoch"),
        big("created_at"),
        string("language", 16),
        string("organisation", 80, default=""),
        string("accent", 20, default=""),
        string("picture", 64, default=""),
        big("deleted_at", null=True),
        big("disabled_at", null=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
    )
    op.create_table(
        "audit_events",
        string("id", 40),
        big("at"),
        string("kind", 32),
        string("outcome", 16),
        string("actor", 16),
        string("account_id", 40, null=True),
        text("client_id", null=True),
        text("client_name", null=True),
        string("address", 45, null=True),
        string("subject", 40, null=True),
        integer("count"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audit_events_at", "audit_events", ["at"])
    op.create_index("ix_audit_events_listed", "audit_events", ["account_id", "at", "id"])
    op.create_table(
        "day_spending",
        integer("day", autoincrement=False),
        string("share", 160),
        big("spent"),
        sa.PrimaryKeyConstraint("day", "share"),
    )
    op.create_table(
        "oauth_clients",
        string("id", 40),
        string("client_id", 2048),
        choice("kind", "pre", "dcr", "cimd"),
        text("name"),
        string("secret_hash", 64, null=True),
        json("details"),
        big("fetched_until", null=True),
        big("created_at"),
        big("disabled_at", null=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("client_id"),
    )
    op.create_table(
        "object_deletions",
        string("object_key", 200),
        big("noted_at"),
        sa.PrimaryKeyConstraint("object_key"),
    )
    op.create_table(
        "schema_marks",
        string("revision", 32),
        string("serves", 32),
        string("version", 32),
        sa.PrimaryKeyConstraint("revision"),
    )
    op.create_table(
        "callback_endpoints",
        string("id", 64),
        string("account_id", 40),
        string("host", 260),
        big("verified_at", null=True),
        integer("failures"),
        big("paused_until", null=True),
        integer("duration_ms", null=True),
        big("seen_at"),
        text("url", null=True),
        string("answered", 160, null=True),
        string("asked_form_id", 40, null=True),
        string("grant_id", 40, null=True),
        big("asked_at", null=True),
        big("confirmed_at", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_callback_endpoints_account_id", "callback_endpoints", ["account_id"])
    op.create_table(
        "drafts",
        string("id", 40),
        string("account_id", 40),
        choice("status", "draft", "published"),
        integer("revision"),
        string("content_hash", 64),
        string("created_by", 40, null=True),
        string("author", 40, null=True),
        string("agent_note", 300, null=True),
        big("created_at"),
        big("updated_at"),
        big("deleted_at", null=True),
        string("discard_note", 500, null=True),
        integer("return_count", default="0"),
        big("returned_at", null=True),
        integer("returned_revision", null=True),
        string("return_note", 500, null=True),
        text("title"),
        text("goal", null=True),
        text("private_context", null=True),
        json("questions"),
        choice("follow_up_mode", "none", "smart", "deep_dive"),
        choice("response_mode", "voice_preferred", "text_only", "voice_only"),
        choice("response_limit", "one", "multiple"),
        integer("followups_given", null=True),
        integer("max_total_questions", null=True),
        text("public_reason", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_drafts_account_id", "drafts", ["account_id"])
    op.create_table(
        "invites",
        string("token_hash", 64),
        string("email", 254, null=True),
        string("account_id", 40, null=True),
        big("created_at"),
        big("expires_at"),
        big("used_at", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_table(
        "oauth_grants",
        string("id", 40),
        string("account_id", 40),
        string("client_pk", 40),
        text("resource"),
        text("scope"),
        boolean("attests_publish"),
        big("created_at"),
        big("expires_at"),
        big("last_used_at", null=True),
        big("revoked_at", null=True),
        choice(
            "revoked_reason",
            "disconnected",
            "revoked_by_client",
            "code_reuse",
            "refresh_reuse",
            null=True,
        ),
        big("muted_until", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["client_pk"], ["oauth_clients.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_oauth_grants_account_id", "oauth_grants", ["account_id"])
    op.create_index("ix_oauth_grants_client_pk", "oauth_grants", ["client_pk"])
    op.create_table(
        "pictures",
        string("account_id", 40),
        string("digest", 64),
        binary("content"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("account_id", "digest"),
    )
    op.create_table(
        "sign_ins",
        string("id", 32),
        string("account_id", 40),
        integer("session_epoch"),
        big("created_at"),
        big("expires_at"),
        big("last_active_at"),
        string("browser", 60, default=""),
        string("address", 45, null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_sign_ins_account_id", "sign_ins", ["account_id"])
    op.create_table(
        "draft_confirmations",
        string("id", 40),
        string("draft_id", 40),
        integer("revision"),
        string("content_hash", 64),
        choice("method", "browser", "agent_attested"),
        string("grant_id", 40, null=True),
        big("created_at"),
        integer("return_count", default="0"),
        boolean("records_voice", default=sa.false()),
        string("transcriber", 260, default=""),
        string("follow_up_writer", 500, default=""),
        string("asker_organisation", 80, default=""),
        string("asker_accent", 20, default=""),
        string("asker_picture", 64, default=""),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_draft_confirmations_draft_id", "draft_confirmations", ["draft_id"])
    op.create_table(
        "draft_returns",
        string("draft_id", 40),
        integer("number"),
        integer("revision"),
        big("returned_at"),
        string("note", 500, null=True),
        json("question_notes"),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("draft_id", "number"),
    )
    op.create_table(
        "draft_revisions",
        string("draft_id", 40),
        integer("revision"),
        json("content"),
        string("author", 40, null=True),
        string("agent_note", 300, null=True),
        big("created_at"),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("draft_id", "revision"),
    )
    op.create_table(
        "draft_views",
        string("draft_id", 40),
        integer("revision"),
        big("seen_at"),
        text("accepted", default=""),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("draft_id"),
    )
    op.create_table(
        "forms",
        string("id", 40),
        string("account_id", 40),
        string("draft_id", 40),
        string("share_token", 40),
        choice("status", "published", "completed", "closed"),
        big("last_stamp"),
        big("completed_stamp", null=True),
        integer("response_count"),
        integer("answered_count"),
        integer("started_count"),
        big("answer_bytes", default="0"),
        big("published_at"),
        big("closed_at", null=True),
        text("frame_origins", default=""),
        big("deleted_at", null=True),
        boolean("records_voice", default=sa.false()),
        string("transcriber", 260, default=""),
        string("spoken_language", 20, default=""),
        string("follow_up_writer", 500, default=""),
        string("asker_organisation", 80, default=""),
        string("asker_accent", 20, default=""),
        string("asker_picture", 64, default=""),
        big("seen_stamp", default="0"),
        text("title"),
        text("goal", null=True),
        text("private_context", null=True),
        json("questions"),
        choice("follow_up_mode", "none", "smart", "deep_dive"),
        choice("response_mode", "voice_preferred", "text_only", "voice_only"),
        choice("response_limit", "one", "multiple"),
        integer("followups_given", null=True),
        integer("max_total_questions", null=True),
        text("public_reason", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("draft_id"),
        sa.UniqueConstraint("share_token"),
    )
    op.create_index("ix_forms_listed", "forms", ["account_id", "published_at", "id"])
    op.create_table(
        "idempotency_keys",
        string("account_id", 40),
        string("client_id", 2048),
        string("key", 255),
        string("body_hash", 64),
        string("draft_id", 40, null=True),
        big("created_at"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"]),
        sa.PrimaryKeyConstraint("account_id", "client_id", "key"),
    )
    op.create_table(
        "oauth_codes",
        string("code_hash", 64),
        string("grant_id", 40),
        text("redirect_uri", null=True),
        text("scope"),
        string("code_challenge", 128),
        big("expires_at"),
        big("used_at", null=True),
        sa.ForeignKeyConstraint(["grant_id"], ["oauth_grants.id"]),
        sa.PrimaryKeyConstraint("code_hash"),
    )
    op.create_index("ix_oauth_codes_grant_id", "oauth_codes", ["grant_id"])
    op.create_table(
        "oauth_tokens",
        string("id", 40),
        string("token_hash", 64),
        choice("kind", "access", "refresh"),
        string("grant_id", 40),
        text("scope"),
        text("resource", null=True),
        big("issued_at"),
        big("expires_at"),
        big("revoked_at", null=True),
        big("rotated_at", null=True),
        string("renews_id", 40, null=True),
        sa.ForeignKeyConstraint(["grant_id"], ["oauth_grants.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index("ix_oauth_tokens_expires_at", "oauth_tokens", ["expires_at"])
    op.create_index("ix_oauth_tokens_grant_id", "oauth_tokens", ["grant_id"])
    op.create_table(
        "agent_tokens",
        string("id", 40),
        string("account_id", 40),
        string("form_id", 40, null=True),
        string("grant_id", 40, null=True),
        string("token_hash", 64),
        string("hint", 20),
        string("label", 120),
        big("created_at"),
        big("expires_at"),
        big("last_used_at", null=True),
        big("revoked_at", null=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index("ix_agent_tokens_account_id", "agent_tokens", ["account_id"])
    op.create_index("ix_agent_tokens_form_id", "agent_tokens", ["form_id"])
    op.create_index("ix_agent_tokens_grant_id", "agent_tokens", ["grant_id"])
    op.create_table(
        "day_counts",
        string("form_id", 40),
        integer("day", autoincrement=False),
        integer("completed"),
        big("transcribed_ms", default="0"),
        integer("model_calls", default="0"),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"]),
        sa.PrimaryKeyConstraint("form_id", "day"),
    )
