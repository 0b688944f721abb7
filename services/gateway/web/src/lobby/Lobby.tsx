import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Brand } from "../table/TableHeader";
import { figure, signed } from "../words";
import { KeepAccount } from "./KeepAccount";
import { LEVELS, type LevelName, type LobbyModel, SPEEDS, type SpeedName, type Wish } from "./model";

export interface LobbyHandlers {
  onQuickPlay: (ruleset: string, rated: boolean) => void;
  onComputers: (wish: Wish, level: LevelName) => void;
  onCreate: (wish: Wish, name: string, isPrivate: boolean) => void;
  onJoin: (tableId: string) => void;
  onJoinCode: (code: string) => void;
  onWatch: (tableId: string) => void;
  onReturn: (tableId: string) => void;
  onReplay: (recordId: string) => void;
  onRegister: (name: string, password: string) => void;
  onRefresh: () => void;
  onLogOut: () => void;
}

interface LobbyProps extends LobbyHandlers {
  model: LobbyModel;
  look: ComponentChildren;
}

/** Where one chooses what to play; the quickest way to a game is first and biggest. */
export function Lobby({ model, look, ...on }: LobbyProps) {
  const [ruleset, setRuleset] = useState("");
  const [speed, setSpeed] = useState<SpeedName>("standard");
  const [level, setLevel] = useState<LevelName>("medium");
  const [rated, setRated] = useState(true);
  const [name, setName] = useState("");
  const [code, setCode] = useState("");
  const chosen = ruleset || (model.rulesets[0]?.id ?? "");
  const wish: Wish = { ruleset: chosen, speed };
  const rating = model.ratings.get(chosen);
  const stuck = model.busy || chosen === "";
  return (
    <div class="page lobby">
      <header class="bar">
        <Brand />
        <span class="quiet title">
          <bdi>{model.name}</bdi>
          {model.guest && " · guest"}
          {rating && ` · ${figure(rating.value)}${rating.provisional ? " ?" : ""}`}
        </span>
        <button type="button" class="plain" onClick={on.onLogOut}>
          Log out
        </button>
      </header>
      <main class="lobby-body">
        <p class="problem" role="alert">
          {model.problem}
        </p>
        {model.seatedAt && (
          <section class="card return">
            <h2>Your seat is kept</h2>
            <button type="button" class="action best wide" onClick={() => on.onReturn(model.seatedAt)}>
              Return to your table
            </button>
          </section>
        )}
        <section class="card quick">
          <h2>Quick play</h2>
          <p class="quiet">Standard clock, four players; computers take empty seats after about 15 seconds.</p>
          <div class="pickers">
            <Picker
              label="Rules"
              value={chosen}
              onPick={setRuleset}
              options={model.rulesets.map((r) => [r.id, r.name])}
            />
            <label class="check">
              <input type="checkbox" checked={rated} onChange={(event) => setRated(event.currentTarget.checked)} />
              <span>Rated</span>
            </label>
          </div>
          <button type="button" class="action best wide" disabled={stuck} onClick={() => on.onQuickPlay(chosen, rated)}>
            Quick play
          </button>
        </section>
        <section class="card">
          <h2>Your own table</h2>
          <Picker
            label="Rules of the table"
            value={chosen}
            onPick={setRuleset}
            options={model.rulesets.map((r) => [r.id, r.name])}
          />
          <div class="pickers">
            <Picker
              label="Speed"
              value={speed}
              onPick={(value) => setSpeed(value as SpeedName)}
              options={Object.entries(SPEEDS).map(([id, { label, clock }]) => [id, `${label}, ${clock}`])}
            />
            <Picker
              label="Computers"
              value={level}
              onPick={(value) => setLevel(value as LevelName)}
              options={Object.entries(LEVELS)}
            />
          </div>
          <button type="button" class="action wide" disabled={stuck} onClick={() => on.onComputers(wish, level)}>
            Play with computers
          </button>
          <label class="field">
            <span>Name of the table</span>
            <input name="table" value={name} maxLength={40} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <div class="pair">
            <button type="button" class="action" disabled={stuck} onClick={() => on.onCreate(wish, name.trim(), true)}>
              Private table
            </button>
            <button type="button" class="action" disabled={stuck} onClick={() => on.onCreate(wish, name.trim(), false)}>
              Open table
            </button>
          </div>
          <form
            class="pair join"
            onSubmit={(event) => {
              event.preventDefault();
              on.onJoinCode(code.trim());
            }}
          >
            <label class="field">
              <span>Invitation code</span>
              <input name="code" value={code} required onInput={(event) => setCode(event.currentTarget.value)} />
            </label>
            <button type="submit" class="action" disabled={model.busy}>
              Join
            </button>
          </form>
        </section>
        <OpenTables model={model} onJoin={on.onJoin} onWatch={on.onWatch} onRefresh={on.onRefresh} />
        <Hands model={model} onReplay={on.onReplay} />
        <section class="card settings">
          {model.guest && <KeepAccount name={model.name} busy={model.busy} onRegister={on.onRegister} />}
          <h2>Look</h2>
          {look}
        </section>
      </main>
    </div>
  );
}

interface PickerProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onPick: (value: string) => void;
}

function Picker({ label, value, options, onPick }: PickerProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {options.map(([id, words]) => (
          <option key={id} value={id}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

type OpenTablesProps = { model: LobbyModel } & Pick<LobbyHandlers, "onJoin" | "onWatch" | "onRefresh">;

function OpenTables({ model, onJoin, onWatch, onRefresh }: OpenTablesProps) {
  return (
    <section class="card tables">
      <h2>
        Open tables
        <button type="button" class="link" onClick={onRefresh}>
          Refresh
        </button>
      </h2>
      {model.tables.length === 0 && <p class="quiet">No open tables now.</p>}
      <ul>
        {model.tables.map((table) => (
          <li key={table.id}>
            <span class="table-words">
              <bdi>{table.name || table.players.join(", ") || "Table"}</bdi>
              <small class="quiet">
                {nameOf(model, table.ruleset)} · {SPEEDS[table.speed].label} · {table.rated ? "rated" : "casual"} ·{" "}
                {table.freeSeats} free
              </small>
            </span>
            <button type="button" class="plain" onClick={() => onWatch(table.id)}>
              Watch
            </button>
            <button type="button" class="plain" disabled={model.busy} onClick={() => onJoin(table.id)}>
              Join
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Hands({ model, onReplay }: { model: LobbyModel } & Pick<LobbyHandlers, "onReplay">) {
  return (
    <section class="card hands">
      <h2>Your last hands</h2>
      {model.hands.length === 0 && <p class="quiet">Hands that you finish can be replayed here.</p>}
      <ul>
        {model.hands.map((hand) => (
          <li key={hand.id}>
            <span class="table-words">
              <span>
                {hand.winner ? <bdi>{hand.winner}</bdi> : "Nobody"} {hand.winner === "You" ? "win" : "wins"}
                <b class={hand.change > 0 ? "gain" : hand.change < 0 ? "loss" : ""}> {signed(hand.change)}</b>
              </span>
              <small class="quiet">
                {nameOf(model, hand.ruleset)} · {hand.rated ? "rated" : "casual"} ·{" "}
                {new Date(hand.endedMs).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
              </small>
            </span>
            <button type="button" class="plain" onClick={() => onReplay(hand.id)}>
              Replay
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf(model: LobbyModel, ruleset: string): string {
  return model.rulesets.find(({ id }) => id === ruleset)?.name ?? ruleset;
}
