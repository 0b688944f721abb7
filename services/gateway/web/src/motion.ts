/** Tiles travel from where they were to where they lie; the layout itself never moves. */

const TRAVEL_MS = 160;
const GATHER_MS = 220;
const EASING = "cubic-bezier(0.2, 0.7, 0.2, 1)";

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export function motionWanted(): boolean {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Remembers where each tile lay and animates those that lie elsewhere after a change. */
export class TileMotion {
  private spots = new Map<string, Spot>();
  private size = "";

  /**
   * Call after the page was laid out. A tile that was not seen before comes from the hand of the seat where it lies now,
   * an own drawn one from the wall in the centre. With `animate` false (a new hand) the spots are only noted.
   */
  settle(board: HTMLElement, animate: boolean): void {
    const size = `${board.clientWidth}x${board.clientHeight}`;
    const still = !animate || size !== this.size || this.spots.size === 0 || !motionWanted();
    this.size = size;
    const next = new Map<string, Spot>();
    const tiles = [...board.querySelectorAll<SVGElement>("[data-moving]")];
    // Read all places first, then start the animations: one layout instead of one per tile.
    for (const tile of tiles) {
      for (const running of tile.getAnimations()) running.cancel();
      next.set(tile.dataset.moving as string, spotOf(tile));
    }
    if (!still) {
      const moves = tiles.map((tile) => {
        const key = tile.dataset.moving as string;
        return { tile, from: this.spots.get(key) ?? originOf(board, tile), to: next.get(key) };
      });
      for (const { tile, from, to } of moves) if (from && to) travel(tile, from, to);
    }
    this.spots = next;
  }
}

function originOf(board: HTMLElement, tile: Element): Spot | null {
  const place = /\bat-([0123])\b/.exec(tile.closest(".river, .melds, .plate")?.className ?? "")?.[1];
  const hand = place === "0" ? ".own-hand" : `[data-hand="${place}"]`;
  const stands = board.querySelector(place ? hand : ".centre");
  // A low board does not show the hand opposite: its tiles come from its plate.
  const origin = stands?.getClientRects().length === 0 ? board.querySelector(`.plate.at-${place}`) : stands;
  // Only the place counts: what comes from a hand or the wall keeps its size.
  return origin && { ...spotOf(origin), width: 0 };
}

function spotOf(element: Element): Spot {
  const box = element.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2, width: Math.min(box.width, box.height) };
}

function travel(tile: SVGElement, from: Spot, to: Spot): void {
  const dx = from.x - to.x;
  const dy = from.y - to.y;
  if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return;
  const scale = from.width > 0 && to.width > 0 ? from.width / to.width : 1;
  const gathered = tile.closest(".meld") !== null;
  tile.animate([{ transform: `translate(${dx}px, ${dy}px) scale(${scale})` }, { transform: "none" }], {
    duration: gathered ? GATHER_MS : TRAVEL_MS,
    easing: EASING,
  });
}
