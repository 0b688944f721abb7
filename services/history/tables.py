"""The tables in PostgreSQL. Times are Unix milliseconds.

A record is kept whole, as the bytes that came; the columns beside them are for lists and for deciding who may see it.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

metadata = sa.MetaData()

records = sa.Table(
    "records",
    metadata,
    sa.Column("record_id", sa.Text, primary_key=True),
    sa.Column("format", sa.BigInteger, nullable=False),
    sa.Column("ruleset", sa.Text, nullable=False),
    sa.Column("table_id", sa.Text, nullable=False),
    sa.Column("hand", sa.BigInteger, nullable=False),
    sa.Column("unit_id", sa.Text, nullable=False),
    sa.Column("carries_changes", sa.Boolean, nullable=False),  # it ended the unit, so its changes belong to it
    sa.Column("started_ms", sa.BigInteger, nullable=False),
    sa.Column("ended_ms", sa.BigInteger, nullable=False),
    sa.Column("private", sa.Boolean, nullable=False),
    sa.Column("rated", sa.Boolean, nullable=False),
    sa.Column("names", ARRAY(sa.Text), nullable=False),
    sa.Column("changes", ARRAY(sa.BigInteger), nullable=False),
    sa.Column("winner", sa.BigInteger, nullable=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Index("records_by_end", "ended_ms", "record_id"),
    sa.Index("records_of_table", "table_id", "ended_ms", "record_id"),
)

record_players = sa.Table(
    "record_players",
    metadata,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("ended_ms", sa.BigInteger, primary_key=True),
    sa.Column(
        "record_id", sa.Text, sa.ForeignKey("records.record_id", ondelete="CASCADE"), primary_key=True, index=True
    ),
)

matches = sa.Table(
    "matches",
    metadata,
    sa.Column("match_id", sa.Text, primary_key=True),
    sa.Column("ruleset", sa.Text, nullable=False),
    sa.Column("table_id", sa.Text, nullable=False),
    sa.Column("ended_ms", sa.BigInteger, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)

unit_changes = sa.Table(
    "unit_changes",
    metadata,
    sa.Column("unit_id", sa.Text, primary_key=True),
    sa.Column("table_id", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),  # the RatingsChanged that came
)
