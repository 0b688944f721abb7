import type { MeldModel, Place } from "../model";
import { Tile } from "../tiles/Tile";
import { meldWords } from "../words";
import { claimedTurn, meldTiles } from "./layout";

/** Declared melds, upright for the reader; the claimed tile lies and points to the seat it came from. */
export function Melds({ melds, owner }: { melds: readonly MeldModel[]; owner: Place }) {
  return (
    <>
      {melds.map((meld) => (
        <Meld key={meld.tiles[0]} meld={meld} owner={owner} />
      ))}
    </>
  );
}

export function Meld({ meld, owner }: { meld: MeldModel; owner: Place }) {
  const turn = meld.claimed ? claimedTurn(meld.claimed.from, owner) : 0;
  const tiles = meldTiles(meld, owner);
  return (
    <div class="meld" role="img" aria-label={meldWords(meld)}>
      {tiles.map(({ tile, lying, stacked }, index) => (
        <Tile
          key={meld.tiles[index] ?? index}
          tile={tile}
          turn={lying ? turn : 0}
          moving
          class={stacked ? "stacked" : ""}
        />
      ))}
    </div>
  );
}
