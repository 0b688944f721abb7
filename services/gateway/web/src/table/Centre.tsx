import type { TableModel } from "../model";
import { WIND_NAMES } from "../words";

/** Round, hand, tiles left, and a mark at the side of whoever is to decide. */
export function Centre({
  model,
}: {
  model: Pick<TableModel, "prevailing" | "hand" | "wallCount" | "kongBoxCount" | "seats">;
}) {
  return (
    <div class="centre">
      {model.seats.map((seat) => (
        <span key={seat.place} class={`side at-${seat.place}${seat.deciding ? " deciding" : ""}`} aria-hidden="true" />
      ))}
      <strong class="prevailing">{WIND_NAMES[model.prevailing]}</strong>
      <span class="quiet">round · hand {model.hand}</span>
      <strong class="wall">{model.wallCount}</strong>
      <span class="quiet">{model.wallCount === 1 ? "tile" : "tiles"} in the wall</span>
      {model.kongBoxCount !== null && <span class="quiet kong-box">{model.kongBoxCount} in the kong box</span>}
    </div>
  );
}
