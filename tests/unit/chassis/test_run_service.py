"""A service's process, as an operator starts it."""

from __future__ import annotations

import subprocess
import sys


def test_a_missing_setting_is_one_sentence_and_exit_code_two() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "services.ratings"],
        env={"EASTWIND_SERVICE_KEY": "a key of sixteen characters"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.stderr == "EASTWIND_DATABASE_URL is not set, and ratings are kept in PostgreSQL.\n"
    assert process.returncode == 2
