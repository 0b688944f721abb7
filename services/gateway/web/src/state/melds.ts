import type { TableView } from "../gen/eastwind/table/v1/view_pb";
import { type Meld, MeldKind } from "../gen/eastwind/type/v1/tile_pb";
import type { MeldModel } from "../model";
import { placeOf } from "./seats";

const KINDS: Record<MeldKind, MeldModel["kind"]> = {
  [MeldKind.UNSPECIFIED]: "pung",
  [MeldKind.CHOW]: "chow",
  [MeldKind.PUNG]: "pung",
  [MeldKind.CONCEALED_KONG]: "concealed kong",
  [MeldKind.CLAIMED_KONG]: "claimed kong",
  [MeldKind.ADDED_KONG]: "added kong",
};

export function meldKind(meld: Meld): MeldModel["kind"] {
  return KINDS[meld.kind] ?? "pung";
}

/** A meld as it is drawn. Of an added kong the claimed tile is known; any other may stand for the added one. */
export function meldModel(view: TableView, meld: Meld): MeldModel {
  const kind = meldKind(meld);
  const claimed =
    meld.claimed !== undefined && meld.source !== undefined
      ? { tile: meld.claimed, from: placeOf(view, meld.source) }
      : null;
  const added = kind === "added kong" ? (meld.tiles.findLast((tile) => tile !== meld.claimed) ?? null) : null;
  return { kind, tiles: meld.tiles, claimed, added };
}
