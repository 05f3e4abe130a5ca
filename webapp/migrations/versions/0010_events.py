"""subscriptions, deliveries, agent tokens"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.create_table(
        "callback_endpoints",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("host", sa.String(length=260), nullable=False),
        sa.Column("verified_at", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("paused_until", sa.BigInteger(), nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_callback_endpoints_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_callback_endpoints")),
    )
    with op.batch_alter_table("callback_endpoints", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_callback_endpoints_account_id"), ["account_id"], unique=False
        )

    op.create_table(
        "agent_tokens",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=True),
        sa.Column("grant_id", sa.String(length=40), nullable=True),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("hint", sa.String(length=20), nullable=False),
        sa.Column("label", sa.String(length=120), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_agent_tokens_account_id")
        ),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"], name=op.f("fk_agent_tokens_form_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_agent_tokens_token_hash")),
    )
    with op.batch_alter_table("agent_tokens", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_agent_tokens_account_id"), ["account_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_agent_tokens_form_id"), ["form_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_agent_tokens_grant_id"), ["grant_id"], unique=False)

    op.create_table(
        "event_subscriptions",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("grant_id", sa.String(length=40), nullable=False),
        sa.Column("endpoint_id", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("host", sa.String(length=260), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("previous_secret", sa.Text(), nullable=True),
        sa.Column("previous_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("refreshed_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("suspended_at", sa.BigInteger(), nullable=True),
        sa.Column("gone_count", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Boolean(), nullable=False),
        sa.Column(
            "error_profile",
            sa.Enum(
                "plain",
                "extension",
                name="error_profile",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("last_delivery_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "last_failure",
            sa.Enum(
                "connection_refused",
                "timeout",
                "tls_error",
                "http_4xx",
                "http_5xx",
                "challenge_failed",
                name="last_failure",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=True,
        ),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "end_reason",
            sa.Enum(
                "unsubscribed",
                "disconnected",
                "revoked",
                "expired",
                name="end_reason",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["callback_endpoints.id"],
            name=op.f("fk_event_subscriptions_endpoint_id"),
        ),
        sa.ForeignKeyConstraint(
            ["form_id"], ["forms.id"], name=op.f("fk_event_subscriptions_form_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_subscriptions")),
    )
    with op.batch_alter_table("event_subscriptions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_event_subscriptions_endpoint_id"), ["endpoint_id"], unique=False
        )
        batch_op.create_index(
            "ix_event_subscriptions_ending", ["ended_at", "expires_at"], unique=False
        )
        batch_op.create_index("ix_event_subscriptions_grant_id", ["grant_id"], unique=False)
        batch_op.create_index(
            "ix_event_subscriptions_of_account",
            ["account_id", "ended_at", "expires_at"],
            unique=False,
        )
        batch_op.create_index(
            "ix_event_subscriptions_of_form", ["form_id", "ended_at", "expires_at"], unique=False
        )

    op.create_table(
        "event_deliveries",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("subscription_id", sa.String(length=40), nullable=False),
        sa.Column("endpoint_id", sa.String(length=64), nullable=False),
        sa.Column("host", sa.String(length=260), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "event",
                "terminated",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("event_id", sa.String(length=64), nullable=False),
        sa.Column("answer_count", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "pending",
                "sending",
                "delivered",
                "dropped",
                "abandoned",
                "cancelled",
                name="state",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("settled_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["form_id"], ["forms.id"], name=op.f("fk_event_deliveries_form_id")
        ),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["event_subscriptions.id"],
            name=op.f("fk_event_deliveries_subscription_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_deliveries")),
        sa.UniqueConstraint(
            "event_id", "subscription_id", name=op.f("uq_event_deliveries_event_id_subscription_id")
        ),
    )
    with op.batch_alter_table("event_deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "ix_event_deliveries_due", ["state", "subscription_id", "next_at"], unique=False
        )
        batch_op.create_index(
            "ix_event_deliveries_listed", ["account_id", "created_at", "id"], unique=False
        )
        batch_op.create_index("ix_event_deliveries_of_form", ["form_id"], unique=False)
        batch_op.create_index(
            "ix_event_deliveries_positions", ["subscription_id", "state", "position"], unique=False
        )
        batch_op.create_index("ix_event_deliveries_settled", ["settled_at"], unique=False)

    op.create_table(
        "delivery_attempts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("delivery_id", sa.String(length=80), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column(
            "failure",
            sa.Enum(
                "connection_refused",
                "timeout",
                "tls_error",
                "http_4xx",
                "http_5xx",
                "challenge_failed",
                name="failure",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=True,
        ),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["event_deliveries.id"], name=op.f("fk_delivery_attempts_delivery_id")
        ),
        sa.ForeignKeyConstraint(
            ["form_id"], ["forms.id"], name=op.f("fk_delivery_attempts_form_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_attempts")),
        sa.UniqueConstraint(
            "delivery_id", "number", name=op.f("uq_delivery_attempts_delivery_id_number")
        ),
    )
    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.create_index("ix_delivery_attempts_of_form", ["form_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.drop_index("ix_delivery_attempts_of_form")

    op.drop_table("delivery_attempts")
    with op.batch_alter_table("event_deliveries", schema=None) as batch_op:
        batch_op.drop_index("ix_event_deliveries_settled")
        batch_op.drop_index("ix_event_deliveries_positions")
        batch_op.drop_index("ix_event_deliveries_of_form")
        batch_op.drop_index("ix_event_deliveries_listed")
        batch_op.drop_index("ix_event_deliveries_due")

    op.drop_table("event_deliveries")
    with op.batch_alter_table("event_subscriptions", schema=None) as batch_op:
        batch_op.drop_index("ix_event_subscriptions_of_form")
        batch_op.drop_index("ix_event_subscriptions_of_account")
        batch_op.drop_index("ix_event_subscriptions_grant_id")
        batch_op.drop_index("ix_event_subscriptions_ending")
        batch_op.drop_index(batch_op.f("ix_event_subscriptions_endpoint_id"))

    op.drop_table("event_subscriptions")
    with op.batch_alter_table("agent_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_agent_tokens_grant_id"))
        batch_op.drop_index(batch_op.f("ix_agent_tokens_form_id"))
        batch_op.drop_index(batch_op.f("ix_agent_tokens_account_id"))

    op.drop_table("agent_tokens")
    with op.batch_alter_table("callback_endpoints", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_callback_endpoints_account_id"))

    op.drop_table("callback_endpoints")
