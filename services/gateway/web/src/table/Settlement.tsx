import { useEffect, useRef } from "preact/hooks";
import type { SettledSeat, SettlementModel, WallCheck, WinModel } from "../model";
import { kindOf, spokenName } from "../tiles/notation";
import { Tile } from "../tiles/Tile";
import { figure, signed, windLetter } from "../words";
import { TimeLeft } from "./Gathering";
import { Melds } from "./Melds";
import { BonusTiles } from "./Plate";

interface SettlementProps {
  settlement: SettlementModel;
  serverOffsetMs: number;
  onReady: () => void;
  onLeave: () => void;
  /** A button that puts the settlement aside, where nobody is asked to be ready. */
  closing?: { readonly label: string; readonly act: () => void };
}

const WALL: Record<WallCheck, string> = {
  checking: "checking the wall …",
  verified: "✓ wall verified: four players' numbers and the sealed one match",
  failed: "The wall does not match its seal. Save the replay and report it.",
  unavailable: "This wall cannot be checked here.",
};

/** How the hand ended, in order of interest: the sentence, the tiles, why, who pays, the wall, one button. */
export function Settlement({ settlement, serverOffsetMs, onReady, onLeave, closing }: SettlementProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [settlement.id]);
  const { seats, wins, wall, readyBy, over } = settlement;
  const own = seats.find(({ place }) => place === 0);
  return (
    <div class="settlement-layer">
      <div class="settlement" role="dialog" aria-label="Settlement">
        <h1 ref={heading} tabIndex={-1}>
          {settlement.sentence}
        </h1>
        {wins.map((win) => (
          <Win key={win.who} win={win} />
        ))}
        <ul class="settled-seats">
          {seats.map((seat) => (
            <Settled key={seat.place} seat={seat} />
          ))}
        </ul>
        {settlement.note && <p class="note">{settlement.note}</p>}
        <footer>
          <p class={`wall-check ${wall}`}>{WALL[wall]}</p>
          {own && own.ready !== null && !over && (
            <button type="button" class="action best ready" disabled={own.ready} onClick={onReady}>
              <span class="label">{own.ready ? "Waiting for the others" : "Ready"}</span>
              {!own.ready && <kbd>Space</kbd>}
              {readyBy !== null && <TimeLeft until={readyBy} serverOffsetMs={serverOffsetMs} />}
            </button>
          )}
          {over && !closing && (
            <button type="button" class="action best" onClick={onLeave}>
              Leave the table
            </button>
          )}
          {closing && (
            <button type="button" class="action best" onClick={closing.act}>
              {closing.label}
            </button>
          )}
        </footer>
      </div>
    </div>
  );
}

function Win({ win }: { win: WinModel }) {
  const words = `${[...win.tiles, win.winning].map((tile) => spokenName(kindOf(tile))).join(", ")}`;
  return (
    <section class="win">
      <div class="win-tiles" role="img" aria-label={words}>
        <div class="set">
          {win.tiles.map((tile) => (
            <Tile key={tile} tile={tile} />
          ))}
        </div>
        <div class="set winning">
          <Tile tile={win.winning} />
        </div>
        <Melds melds={win.melds} owner={0} />
        {win.bonus.length > 0 && <BonusTiles tiles={win.bonus} />}
      </div>
      <table>
        <tbody>
          {win.patterns.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{win.total}</th>
            <td>{win.payment}</td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

function Settled({ seat }: { seat: SettledSeat }) {
  const { change, pointsAfter, rating, ready } = seat;
  const kind = change > 0 ? "gain" : change < 0 ? "loss" : "none";
  return (
    <li class="settled">
      <span class="settled-name">
        {windLetter(seat.wind)} · <bdi>{seat.name}</bdi>
        {ready !== null && (
          <span class={`is-ready${ready ? " yes" : ""}`} role="img" aria-label={ready ? "ready" : "not ready yet"} />
        )}
      </span>
      <strong class={`change ${kind}`}>{signed(change)}</strong>
      <span class="row">
        <span>Points</span>
        <span>
          {figure(pointsAfter - change)} → {figure(pointsAfter)}
        </span>
      </span>
      {rating && (
        <span class="row">
          <span>Rating</span>
          <span>
            {figure(rating.before.value)} → {rating.after ? figure(rating.after.value) : "…"}
            {rating.after?.provisional && <abbr title="provisional rating"> ?</abbr>}
          </span>
        </span>
      )}
    </li>
  );
}
