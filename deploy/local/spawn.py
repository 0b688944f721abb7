"""Become a backing server: tie its life to the parent's, drop root where it must not run as root, then exec.

A script of its own, run by `deploy.local.process`, because none of this may be done safely between fork and exec of a
process that has threads. Standard library only; it starts in about 20 ms.

    python -I -S spawn.py --parent PID --death-signal N [--uid N --gid N [--reach]] -- PROGRAM ARGUMENT...
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAP_DAC_OVERRIDE = 1
_CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION_3 = 0x20080522


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _keep_reach(libc: ctypes.CDLL) -> None:
    """Leave the process one right of root over exec: to pass through folders that only root may enter."""
    failure: OSError | None = None
    for capability in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE):
        bit = 1 << capability
        header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
        data = (_CapabilityData * 2)(_CapabilityData(bit, bit, bit), _CapabilityData(0, 0, 0))
        try:
            _check(libc.capset(ctypes.byref(header), ctypes.byref(data)), "capset")
            _check(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0), "raising a capability")
        except OSError as error:
            failure = error
        else:
            return
    assert failure is not None
    raise failure


def main(arguments: list[str]) -> None:
    """Replace this process by the server; returns only by an exception."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--death-signal", type=int, required=True)
    parser.add_argument("--uid", type=int)
    parser.add_argument("--gid", type=int)
    parser.add_argument("--reach", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)

    libc = ctypes.CDLL(None, use_errno=True)
    if options.uid is not None:
        if options.reach:
            _check(libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "keeping capabilities")
        try:
            os.setgroups([])
            os.setgid(options.gid)
            os.setuid(options.uid)
        except OSError as error:
            raise SystemExit(
                f"root may not become account {options.uid} here ({error.strerror}): do not run as root"
            ) from error
        if options.reach:
            try:
                _keep_reach(libc)
            except OSError as error:
                raise SystemExit(
                    f"account {options.uid} may not enter every folder on the way, and cannot be given that right here "
                    f"({error.strerror}): choose a data folder that everybody may enter, or do not run as root"
                ) from error
    if sys.platform == "linux":
        # After the change of account, which clears it.
        _check(libc.prctl(_PR_SET_PDEATHSIG, options.death_signal, 0, 0, 0), "tying the server to its parent")
    if os.getppid() != options.parent:
        raise SystemExit("the parent ended before its server began")
    os.execv(options.command[0], options.command)


if __name__ == "__main__":
    main(sys.argv[1:])
