"""A winning hand split in one way: what the patterns of hkos-3-v1 look at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.scores import WinMethod, WinSituation
from libs.mahjong.shapes import CHOW_GROUP, KindMask, encode, groupings, is_thirteen_orphans, mask_of
from libs.mahjong.tiles import COPIES, KIND_OF

HAND_TILES: Final = 14
"""Tiles of a complete hand; a kong counts as three."""


@dataclass(slots=True)
class GroupedHand:
    """One grouping of a winning hand with the situation of the win. Masks have one bit per kind.

    Treat it as a value; it is not frozen only because scoring builds one for every grouping.
    """

    situation: WinSituation
    kinds: KindMask
    """Every regular kind in the hand: melds, concealed tiles and the winning tile."""
    pungs: KindMask
    """The kinds of all pungs and kongs."""
    chows: int
    pair: KindMask
    """The kind of the pair; no bit for Thirteen Orphans."""
    kongs: int
    """Declared kongs of any sort."""
    circumstances: int
    """Those of the situation as a plain number, which is several times quicker to test than the flags."""
    bonus: KindMask
    """The exposed flowers and seasons."""
    gates: int | None
    """The code of the suit when all tiles are concealed and of one suit, otherwise ``None``."""
    orphans: bool = False
    """The hand is Thirteen Orphans, which has no groups."""


def grouped_hands(situation: WinSituation) -> Iterator[GroupedHand]:
    """Every way to see the winner's tiles as a winning shape (hkos-3-v1 §1.6); none when they are no win.

    A concealed kong yields to Thirteen Orphans only (§1.5).
    """
    holding, winning = situation.holding, situation.winning
    concealed = holding.concealed if winning is None else (*holding.concealed, winning)
    if len(concealed) + 3 * len(holding.melds) != HAND_TILES:
        return
    circumstances = int(situation.circumstances)
    bonus = mask_of(holding.bonus)
    m, p, s, z = encode(concealed)
    kinds = mask_of(concealed)
    if is_thirteen_orphans(m, p, s, z):
        yield GroupedHand(situation, kinds, 0, 0, 0, 0, circumstances, bonus, None, orphans=True)
        return
    if situation.method is WinMethod.ROBBED_CONCEALED_KONG:
        return
    splits = groupings(m, p, s, z)
    if not splits:
        return
    declared_kinds, declared_pungs, declared_chows, kongs = _declared(holding.melds)
    kinds |= declared_kinds
    gates = None if holding.melds else _only_suit(m, p, s, z)
    for pair, groups in splits:
        chows, pungs = declared_chows, declared_pungs
        for group in groups:
            if group >= CHOW_GROUP:
                chows += 1
            else:
                pungs |= 1 << group
        yield GroupedHand(situation, kinds, pungs, chows, 1 << pair, kongs, circumstances, bonus, gates)


def declared_hand(situation: WinSituation) -> GroupedHand:
    """The declared melds and bonus tiles alone, without looking at the concealed tiles."""
    kinds, pungs, chows, kongs = _declared(situation.holding.melds)
    return GroupedHand(situation, kinds, pungs, chows, 0, kongs, 0, mask_of(situation.holding.bonus), None)


def _declared(melds: tuple[Meld, ...]) -> tuple[KindMask, KindMask, int, int]:
    """All kinds, the kinds of pungs and kongs, the number of chows and that of kongs."""
    kinds, pungs, chows, kongs = 0, 0, 0, 0
    for meld in melds:
        kind = KIND_OF[meld.tiles[0]]
        if meld.kind is MeldKind.CHOW:
            chows += 1
            kinds |= 7 << kind
        else:
            pungs |= 1 << kind
            kinds |= 1 << kind
            kongs += len(meld.tiles) == COPIES
    return kinds, pungs, chows, kongs


def _only_suit(m: int, p: int, s: int, z: int) -> int | None:
    """The code of the one suit that holds every tile, ``None`` when tiles of two suits or honours are there."""
    code = m + p + s
    return code if z == 0 and code in (m, p, s) else None
