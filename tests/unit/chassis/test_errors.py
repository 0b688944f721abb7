"""Every reason of the chassis is one of the contract."""

from __future__ import annotations

from eastwind.type.v1 import reason_pb2
from libs.chassis import errors
from libs.chassis.errors import EastwindError, OwnedElsewhere, to_status


def _all_classes(root: type[EastwindError]) -> set[type[EastwindError]]:
    return {root}.union(*(_all_classes(child) for child in root.__subclasses__()))


def test_reasons_are_names_of_the_contract() -> None:
    names = {name.removeprefix("REASON_") for name in reason_pb2.Reason.DESCRIPTOR.values_by_name}
    classes = _all_classes(errors.EastwindError)
    assert len(classes) > 10
    assert {each.reason for each in classes} <= names


def test_a_status_carries_reason_metadata_and_whether_to_try_again() -> None:
    status = to_status(OwnedElsewhere("held by another", owner="w2"))
    assert status.message == "held by another"
    [detail] = status.details
    assert b"NOT_OWNER" in detail.value
    assert b"w2" in detail.value
    assert b"retriable" in detail.value
