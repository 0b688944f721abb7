import { useEffect, useRef } from "preact/hooks";
import type {
  ItemModel,
  MatchModel,
  OtherHandModel,
  PaymentModel,
  SettledSeat,
  SettlementModel,
  StandingModel,
  WallCheck,
  WinModel,
} from "../model";
import { kindOf, spokenName } from "../tiles/notation";
import { Tile } from "../tiles/Tile";
import { figure, signed, verb, windLetter } from "../words";
import { TimeLeft } from "./Gathering";
import { Melds } from "./Melds";
import { BonusTiles } from "./Plate";
import { ScoreSheet } from "./ScoreSheet";

interface SettlementProps {
  settlement: SettlementModel;
  /** The match that the hand belongs to, if it belongs to one. */
  match: MatchModel | null;
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
export function Settlement({ settlement, match, serverOffsetMs, onReady, onLeave, closing }: SettlementProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [settlement.id]);
  const { seats, wins, others, payments, standings, wall, readyBy, readyByItself, over } = settlement;
  // Where four hands follow, what they came to is said before them.
  const changesFirst = others.length > 0 && !standings;
  const own = seats.find(({ place }) => place === 0);
  return (
    <div class="settlement-layer">
      <div class={`settlement${others.length > 0 || standings ? " wide" : ""}`} role="dialog" aria-label="Settlement">
        <h1 ref={heading} tabIndex={-1}>
          {standings ? matchWords(standings) : settlement.sentence}
        </h1>
        {standings && <Standings standings={standings} />}
        {standings && match && (
          <section class="whole-match" aria-label="Score sheet">
            <ScoreSheet match={match} />
          </section>
        )}
        {standings && <p class="last-hand">Last hand: {settlement.sentence}</p>}
        {changesFirst && <Changes seats={seats} />}
        {wins.map((win) => (
          <Win key={win.who} win={win} />
        ))}
        {others.length > 0 && (
          <ul class="other-hands">
            {others.map((hand) => (
              <OtherHand key={hand.place} hand={hand} />
            ))}
          </ul>
        )}
        {payments.length > 0 && <Payments payments={payments} />}
        {!changesFirst && <Changes seats={seats} />}
        {settlement.note && <p class="note">{settlement.note}</p>}
        <footer>
          <p class={`wall-check ${wall}`}>{WALL[wall]}</p>
          {own && own.ready !== null && !over && (
            <button type="button" class="action best ready" disabled={own.ready} onClick={onReady}>
              <span class="label">
                {own.ready ? "Waiting for the others" : readyByItself ? "Ready, go on" : "Ready"}
              </span>
              {!own.ready && <kbd>Space</kbd>}
              {readyBy !== null && <TimeLeft until={readyBy} serverOffsetMs={serverOffsetMs} />}
            </button>
          )}
          {readyByItself && readyBy !== null && !over && (
            <p class="quiet by-itself">The next hand begins by itself when the time is over.</p>
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
          <Items items={win.patterns} />
          <tr class="sum">
            <th scope="row">{win.total}</th>
            <td>{win.payment}</td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

function Items({ items }: { items: readonly ItemModel[] }) {
  return (
    <>
      {items.map(({ name, value }, index) => (
        // Two groups may be worth the same under the same name; the list never changes.
        <tr key={`${index}-${name}`}>
          <th scope="row">{name}</th>
          <td>{value}</td>
        </tr>
      ))}
    </>
  );
}

function OtherHand({ hand }: { hand: OtherHandModel }) {
  const words = hand.tiles.map((tile) => spokenName(kindOf(tile))).join(", ");
  return (
    <li class="other-hand">
      <p class="whose">
        {windLetter(hand.wind)} · <bdi>{hand.who}</bdi>
        <strong>{hand.total}</strong>
      </p>
      <div class="win-tiles" role="img" aria-label={words}>
        <div class="set">
          {hand.tiles.map((tile) => (
            <Tile key={tile} tile={tile} />
          ))}
        </div>
        <Melds melds={hand.melds} owner={0} />
        {hand.bonus.length > 0 && <BonusTiles tiles={hand.bonus} />}
      </div>
      {hand.patterns.length > 0 ? (
        <table>
          <tbody>
            <Items items={hand.patterns} />
          </tbody>
        </table>
      ) : (
        <p class="quiet">Nothing counts.</p>
      )}
    </li>
  );
}

function Payments({ payments }: { payments: readonly PaymentModel[] }) {
  return (
    <table class="payments" aria-label="Who pays whom">
      <tbody>
        {payments.map(({ from, to, how, amount }) => (
          <tr key={`${from} ${to}`}>
            <th scope="row">
              <bdi>{from}</bdi> <span class="quiet">{from === "You" ? "pay" : "pays"}</span>{" "}
              <bdi>{to === "You" ? "you" : to}</bdi>
            </th>
            <td class="quiet">{how}</td>
            <td>
              <strong>{figure(amount)}</strong>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** "You win the match", "Ines and Tomas share the first place" */
function matchWords(standings: readonly StandingModel[]): string {
  const first = standings.filter(({ rank }) => rank === 1).map(({ name }) => name);
  const [winner = ""] = first;
  return first.length > 1
    ? `${new Intl.ListFormat("en").format(first)} share the first place`
    : `${winner} ${verb(winner, "win")} the match`;
}

const ORDINALS = ["", "1st", "2nd", "3rd", "4th"] as const;

function Standings({ standings }: { standings: readonly StandingModel[] }) {
  return (
    <ol class="standings" aria-label="Final places">
      {standings.map(({ rank, name, points, own, rating }) => (
        <li key={name} class={own ? "own" : ""}>
          <span class="place">{ORDINALS[rank]}</span>
          <bdi>{name}</bdi>
          <strong>{figure(points)}</strong>
          {rating && (
            <span class="quiet">
              rating {figure(rating.before.value)} → {rating.after ? figure(rating.after.value) : "…"}
              {rating.after?.provisional && <abbr title="provisional rating"> ?</abbr>}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

function Changes({ seats }: Pick<SettlementModel, "seats">) {
  return (
    <ul class="settled-seats">
      {seats.map((seat) => (
        <Settled key={seat.place} seat={seat} />
      ))}
    </ul>
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
