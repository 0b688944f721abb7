"""Records, who played them, matches and what units did to ratings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

from libs.chassis.events import consumed_events

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    consumed_events.create(op.get_bind())
    op.create_table(
        "records",
        sa.Column("record_id", sa.Text, primary_key=True),
        sa.Column("format", sa.BigInteger, nullable=False),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("table_id", sa.Text, nullable=False),
        sa.Column("hand", sa.BigInteger, nullable=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("carries_changes", sa.Boolean, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
        sa.Column("private", sa.Boolean, nullable=False),
        sa.Column("rated", sa.Boolean, nullable=False),
        sa.Column("names", ARRAY(sa.Text), nullable=False),
        sa.Column("changes", ARRAY(sa.BigInteger), nullable=False),
        sa.Column("winner", sa.BigInteger, nullable=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_index("records_by_end", "records", ["ended_ms", "record_id"])
    op.create_index("records_of_table", "records", ["table_id", "ended_ms", "record_id"])
    op.create_table(
        "record_players",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("ended_ms", sa.BigInteger, primary_key=True),
        sa.Column("record_id", sa.Text, sa.ForeignKey("records.record_id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("ix_record_players_record_id", "record_players", ["record_id"])
    op.create_table(
        "matches",
        sa.Column("match_id", sa.Text, primary_key=True),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("table_id", sa.Text, nullable=False),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "unit_changes",
        sa.Column("unit_id", sa.Text, primary_key=True),
        sa.Column("table_id", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Remove everything."""
    for table in ("unit_changes", "matches", "record_players", "records", "consumed_events"):
        op.drop_table(table)
