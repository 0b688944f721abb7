import { useEffect, useRef } from "preact/hooks";
import { kindOf, spokenName, type TileId } from "../tiles/notation";
import { Tile } from "../tiles/Tile";

interface OwnHandProps {
  tiles: readonly TileId[];
  drawn: TileId | null;
  /** Those that may be discarded now. */
  discards: readonly TileId[];
  /** The discard will carry an Original Call: the tiles that may are marked. */
  calling: boolean;
  /** After an Original Call nothing but the drawn tile moves. */
  frozen: boolean;
  selected: TileId | null;
  onSelect: (tile: TileId | null) => void;
  onDiscard: (tile: TileId) => void;
}

/**
 * One's own tiles as buttons. A mouse click discards; a finger first raises a tile and with a second tap discards it;
 * the arrow keys move and Enter discards. One tile at a time is in the tab order.
 */
export function OwnHand({ tiles, drawn, discards, calling, frozen, selected, onSelect, onDiscard }: OwnHandProps) {
  const holder = useRef<HTMLDivElement>(null);
  const legal = new Set(discards);
  const all = drawn === null ? tiles : [...tiles, drawn];
  const tabbed = selected !== null && all.includes(selected) ? selected : (drawn ?? all[all.length - 1]);

  useEffect(() => {
    // Follow the arrow keys with the focus, but only when it is among the tiles already.
    if (selected === null || !holder.current?.contains(document.activeElement)) return;
    holder.current.querySelector<HTMLElement>(`[data-tile="${selected}"]`)?.focus();
  }, [selected]);

  const press = (tile: TileId, event: MouseEvent) => {
    const byFinger = event instanceof PointerEvent && event.pointerType === "touch";
    if (!legal.has(tile)) {
      if (!frozen) onSelect(selected === tile ? null : tile);
      return;
    }
    if (byFinger && selected !== tile) onSelect(tile);
    else onDiscard(tile);
  };

  return (
    <div
      class={`own-hand${discards.length > 0 ? " open" : ""}${calling ? " calling" : ""}${frozen ? " frozen" : ""}`}
      role="group"
      aria-label={frozen ? "Your tiles, frozen by your Original Call" : "Your tiles"}
      ref={holder}
    >
      {all.map((tile) => (
        <button
          key={tile}
          type="button"
          data-tile={tile}
          class={`own-tile${tile === drawn ? " drawn" : ""}${tile === selected ? " selected" : ""}`}
          aria-label={
            spokenName(kindOf(tile)) +
            (tile === drawn ? ", drawn" : "") +
            (calling && legal.has(tile) ? ", may carry the Original Call" : "")
          }
          aria-pressed={tile === selected}
          aria-disabled={!legal.has(tile)}
          tabIndex={tile === tabbed ? 0 : -1}
          onClick={(event) => press(tile, event)}
        >
          <Tile tile={tile} moving />
        </button>
      ))}
    </div>
  );
}

/** The tiles of the seat at the bottom for those who look on: their number is all that is known. */
export function HiddenHand({ count, drawn }: { count: number; drawn: boolean }) {
  return (
    <div class="own-hand hidden-hand" role="img" aria-label={`${count + (drawn ? 1 : 0)} tiles`}>
      {Array.from({ length: count }, (_, index) => (
        <span key={index} class="own-tile">
          <Tile tile={null} />
        </span>
      ))}
      {drawn && (
        <span class="own-tile drawn">
          <Tile tile={null} />
        </span>
      )}
    </div>
  );
}
