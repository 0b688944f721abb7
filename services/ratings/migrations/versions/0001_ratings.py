"""Ratings, what changed them, the units that did, and what is still to be told."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from libs.chassis.events import consumed_events

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    consumed_events.create(op.get_bind())
    op.create_table(
        "ratings",
        sa.Column("ladder", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("mu", sa.Double, nullable=False),
        sa.Column("sigma", sa.Double, nullable=False),
        sa.Column("units", sa.Integer, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ratings_by_place", "ratings", ["ladder", sa.text("mu DESC"), "account_id"])
    op.create_index("ratings_of_account", "ratings", ["account_id"])
    op.create_table(
        "rated_units",
        sa.Column("unit_id", sa.Text, primary_key=True),
        sa.Column("ladder", sa.Text, nullable=False),
        sa.Column("table_id", sa.Text, nullable=False),
        sa.Column("event_id", sa.Text, nullable=False),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "rating_changes",
        sa.Column("change_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("unit_id", sa.Text, sa.ForeignKey("rated_units.unit_id"), nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("ladder", sa.Text, nullable=False),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("mu_before", sa.Double, nullable=False),
        sa.Column("mu_after", sa.Double, nullable=False),
        sa.Column("sigma_after", sa.Double, nullable=False),
        sa.Column("units_after", sa.Integer, nullable=False),
        sa.Column("placement_tenths", sa.SmallInteger, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("unit_id", "account_id", name="rating_changes_once"),
    )
    op.create_index("rating_changes_of_account", "rating_changes", ["account_id", "ladder", "change_id"])
    op.create_table(
        "outbox",
        sa.Column("entry_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("event_id", sa.Text, nullable=False, unique=True),
        sa.Column("trace", JSONB, nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_to", sa.Text, nullable=True),
    )
    op.create_index("outbox_unsent", "outbox", ["entry_id"], postgresql_where=sa.text("sent_at IS NULL"))
    op.create_index("outbox_sent", "outbox", ["sent_at"], postgresql_where=sa.text("sent_at IS NOT NULL"))


def downgrade() -> None:
    """Remove everything."""
    for table in ("outbox", "rating_changes", "rated_units", "ratings", "consumed_events"):
        op.drop_table(table)
