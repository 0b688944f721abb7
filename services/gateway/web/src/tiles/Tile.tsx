import { kindOf, notation, type TileId } from "./notation";

/** Quarter turns anticlockwise: 0 towards the reader, 1 towards the seat at the right, 2 opposite, 3 left. */
export type Turn = 0 | 1 | 2 | 3;

interface TileProps {
  /** null shows the back. */
  tile: TileId | null;
  turn?: Turn;
  class?: string;
  /** Lets the tile travel when it next appears elsewhere. */
  moving?: boolean;
}

// Turned about the middle of the upright face (150, 199) into the middle of the upper side of the body.
const PLACED: Record<Turn, string | undefined> = {
  0: undefined,
  1: "translate(212 137)rotate(-90)translate(-150 -199)",
  2: "translate(150 199)rotate(180)translate(-150 -199)",
  3: "translate(212 137)rotate(90)translate(-150 -199)",
};

/** One tile, lit from above however it is turned. It has no name of its own: what holds it says what it is. */
export function Tile({ tile, turn = 0, class: extra, moving = false }: TileProps) {
  const lying = turn % 2 === 1;
  const body = `#${tile === null ? "back" : "body"}${lying ? "-side" : ""}`;
  return (
    <svg
      class={`tile${lying ? " lying" : ""}${extra ? ` ${extra}` : ""}`}
      viewBox={lying ? "0 0 424 300" : "0 0 300 424"}
      data-moving={moving && tile !== null ? tile : undefined}
      aria-hidden="true"
    >
      <use href={body} />
      {tile !== null && <use href={`#${notation(kindOf(tile))}`} width="300" height="424" transform={PLACED[turn]} />}
    </svg>
  );
}
