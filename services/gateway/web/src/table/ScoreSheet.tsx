import type { MatchModel } from "../model";
import { figure, signed, WIND_NAMES, windLetter } from "../words";

/** A match hand by hand: who dealt, who won, what changed, and where everybody stands. */
export function ScoreSheet({ match }: { match: MatchModel }) {
  const { names, totals, lines, missing, changesOfDealer, lastChange, startingPoints } = match;
  return (
    <div class="sheet">
      <p class="quiet" title="The dealer of each hand is underlined.">
        Deal passed {changesOfDealer} of {lastChange} times · began with {figure(startingPoints)}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Hand</th>
            {names.map((name) => (
              <th key={name} scope="col" title={name}>
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {missing && (
            <tr>
              <td class="quiet" colSpan={5}>
                Earlier hands are on their way.
              </td>
            </tr>
          )}
          {lines.map(({ hand, prevailing, dealer, winner, changes }) => (
            <tr key={hand}>
              <th scope="row" title={`${WIND_NAMES[prevailing]} round`}>
                {windLetter(prevailing)} {hand}
              </th>
              {changes.map((change, place) => (
                <td
                  key={place}
                  class={`${place === winner ? "winner" : ""}${place === dealer ? " dealt" : ""}`}
                  title={place === dealer ? "dealer" : ""}
                >
                  {winner === null ? "–" : signed(change)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Points</th>
            {totals.map((total, place) => (
              <td key={place}>{figure(total)}</td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
