import type { SeatModel } from "../model";
import { Tile } from "../tiles/Tile";
import { figure, signed, WIND_NAMES, windLetter } from "../words";
import { Clock } from "./Clock";

interface PlateProps {
  seat: SeatModel;
  serverOffsetMs: number;
  live: boolean;
  /** The table waits for the reader: the accent is his. */
  own: boolean;
  /** Points begin at nothing, so that their sign counts. */
  fromZero: boolean;
}

const STATES = { present: "", away: "away", computer: "computer", empty: "" } as const;

/** Who sits there: wind (the dealer's filled), name, state, rating, points, the clock that runs, and the bonus tiles. */
export function Plate({ seat, serverOffsetMs, live, own, fromZero }: PlateProps) {
  const dealer = seat.wind === 0;
  const state = STATES[seat.presence] || (seat.deciding && !own ? "thinking" : "");
  return (
    <div class={`plate at-${seat.place}${seat.deciding ? " deciding" : ""}`}>
      <div class="plate-card">
        <span class={`wind${dealer ? " dealer" : ""}`} title={`${WIND_NAMES[seat.wind]}${dealer ? ", dealer" : ""}`}>
          {windLetter(seat.wind)}
        </span>
        <span class="who">
          <span class="name">
            <bdi>{seat.name}</bdi>
            {state && <i class={`state ${seat.presence}`}>{state}</i>}
          </span>
          {(seat.rating || seat.called) && (
            <span class="under">
              {seat.rating && (
                <span class="rating">
                  {figure(seat.rating.value)}
                  {seat.rating.provisional && <abbr title="provisional rating"> ?</abbr>}
                </span>
              )}
              {seat.called && (
                <b class="called" title="Original Call: the hand is frozen">
                  called
                </b>
              )}
            </span>
          )}
        </span>
        <span class="points" title="points">
          {fromZero ? signed(seat.points) : figure(seat.points)}
        </span>
        {seat.clock && <Clock clock={seat.clock} serverOffsetMs={serverOffsetMs} live={live} />}
      </div>
      {!own && seat.bonus.length > 0 && <BonusTiles tiles={seat.bonus} />}
    </div>
  );
}

export function BonusTiles({ tiles }: { tiles: SeatModel["bonus"] }) {
  return (
    <div class="bonus">
      {tiles.map((tile) => (
        <Tile key={tile} tile={tile} moving />
      ))}
    </div>
  );
}
