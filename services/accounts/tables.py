"""The tables in PostgreSQL. Times are Unix milliseconds."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text, nullable=True),  # a guest has none
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("registered_ms", sa.BigInteger, nullable=True),  # when it got its password
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id", ondelete="CASCADE"), nullable=False),
    sa.Column("chain_secret", sa.LargeBinary, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("expires_ms", sa.BigInteger, nullable=False),
    sa.Column("revoked_ms", sa.BigInteger, nullable=True),
    sa.Index("sessions_of_account", "account_id"),
    sa.Index("sessions_by_expiry", "expires_ms"),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    sa.Column("issued_ms", sa.BigInteger, nullable=False),
    sa.Column("used_ms", sa.BigInteger, nullable=True),
    sa.Index("refresh_tokens_of_session", "session_id"),
)

signing_keys = sa.Table(
    "signing_keys",
    metadata,
    sa.Column("key_id", sa.Text, primary_key=True),
    sa.Column("private_pem", sa.Text, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
)
