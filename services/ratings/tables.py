"""The tables in PostgreSQL. Times are Unix milliseconds, ratings and uncertainties are unrounded."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

metadata = sa.MetaData()

ratings = sa.Table(
    "ratings",
    metadata,
    sa.Column("ladder", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("ruleset", sa.Text, nullable=False),  # the version that was played last
    sa.Column("mu", sa.Double, nullable=False),
    sa.Column("sigma", sa.Double, nullable=False),
    sa.Column("units", sa.Integer, nullable=False),
    sa.Column("changed_ms", sa.BigInteger, nullable=False),
    sa.Index("ratings_by_place", "ladder", sa.text("mu DESC"), "account_id"),
    sa.Index("ratings_of_account", "account_id"),
)

rating_changes = sa.Table(
    "rating_changes",
    metadata,
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
    sa.Index("rating_changes_of_account", "account_id", "ladder", "change_id"),
)

rated_units = sa.Table(
    "rated_units",
    metadata,
    sa.Column("unit_id", sa.Text, primary_key=True),
    sa.Column("ladder", sa.Text, nullable=False),
    sa.Column("table_id", sa.Text, nullable=False),
    sa.Column("event_id", sa.Text, nullable=False),
    sa.Column("ended_ms", sa.BigInteger, nullable=False),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("entry_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("topic", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("event_id", sa.Text, nullable=False, unique=True),
    sa.Column("trace", JSONB, nullable=False),
    sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
    sa.Column("sent_to", sa.Text, nullable=True),  # the life of the broker that has it
    sa.Index("outbox_unsent", "entry_id", postgresql_where=sa.text("sent_at IS NULL")),
    sa.Index("outbox_sent", "sent_at", postgresql_where=sa.text("sent_at IS NOT NULL")),
)
