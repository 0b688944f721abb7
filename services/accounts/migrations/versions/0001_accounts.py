"""Accounts, sessions, refresh tokens and signing keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "accounts",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False, unique=True),
        sa.Column("password_hash", sa.Text, nullable=True),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("registered_ms", sa.BigInteger, nullable=True),
    )
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id", ondelete="CASCADE"), nullable=False),
        sa.Column("chain_secret", sa.LargeBinary, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
        sa.Column("revoked_ms", sa.BigInteger, nullable=True),
    )
    op.create_index("sessions_of_account", "sessions", ["account_id"])
    op.create_index("sessions_by_expiry", "sessions", ["expires_ms"])
    op.create_table(
        "refresh_tokens",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
        sa.Column("issued_ms", sa.BigInteger, nullable=False),
        sa.Column("used_ms", sa.BigInteger, nullable=True),
    )
    op.create_index("refresh_tokens_of_session", "refresh_tokens", ["session_id"])
    op.create_table(
        "signing_keys",
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("private_pem", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Remove everything."""
    for table in ("signing_keys", "refresh_tokens", "sessions", "accounts"):
        op.drop_table(table)
