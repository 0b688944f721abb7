import { useEffect, useState } from "preact/hooks";
import type { App } from "./app/app";
import type { AppState } from "./app/state";
import { ConnectionBanner } from "./ConnectionBanner";
import { LookControls } from "./LookControls";
import { Lobby } from "./lobby/Lobby";
import { Queue } from "./lobby/Queue";
import { SignIn } from "./lobby/SignIn";
import { ReplayScreen } from "./replay/ReplayScreen";
import { atStep } from "./replay/replay";
import { waitsOf, worthOf } from "./state/explain";
import { type Surroundings, tableModel } from "./state/present";
import { Table } from "./table/Table";
import { Brand } from "./table/TableHeader";

/** The page: one screen of the state, and above it what is to be said about the connection. */
export function Root({ app }: { app: App }) {
  const [state, setState] = useState(app.store.get());
  useEffect(() => {
    setState(app.store.get());
    return app.store.subscribe(() => setState(app.store.get()));
  }, [app]);
  return (
    <>
      <Screen app={app} state={state} />
      {state.screen !== "sign in" && (
        <ConnectionBanner connection={state.connection} onTakeBack={() => app.takeBack()} />
      )}
    </>
  );
}

function around(app: App, state: AppState): Surroundings {
  const view = state.table?.view;
  const answer = state.explained?.answer ?? null;
  return {
    connection: state.connection,
    latencyMs: state.latencyMs,
    serverOffsetMs: state.serverOffsetMs,
    rulesets: new Map(state.rulesets.map(({ id, name }) => [id, name])),
    switches: { ...state.handSwitches, sort: state.look.sort },
    worth: view ? worthOf(view, answer) : null,
    waits: view ? waitsOf(view, answer) : [],
    code: view ? app.lobby.codeOf(view.tableId) : "",
  };
}

function Screen({ app, state }: { app: App; state: AppState }) {
  const { lobby, table } = app;
  const look = <LookControls look={state.look} onLook={(next) => app.setLook(next)} />;
  switch (state.screen) {
    case "sign in":
      return (
        <SignIn
          busy={state.busy}
          problem={state.problem}
          onGuest={(name) => void app.playAsGuest(name)}
          onLogIn={(name, password) => void app.logIn(name, password)}
          onRegister={(name, password) => void app.register(name, password)}
        />
      );
    case "lobby":
      return (
        <Lobby
          model={state}
          look={look}
          onQuickPlay={(ruleset, rated) => lobby.quickPlay(ruleset, rated)}
          onComputers={(wish, level) => void lobby.playWithComputers(wish, level)}
          onCreate={(wish, name, isPrivate) => void lobby.createTable(wish, name, isPrivate)}
          onJoin={(tableId) => void lobby.join(tableId, "")}
          onJoinCode={(code) => void lobby.join("", code)}
          onWatch={(tableId) => table.watch(tableId)}
          onReturn={(tableId) => table.watch(tableId)}
          onReplay={(recordId) => void lobby.openReplay(recordId)}
          onRegister={(name, password) => void app.register(name, password)}
          onRefresh={() => void lobby.refresh()}
          onLogOut={() => void app.logOut()}
        />
      );
    case "queue":
      return state.queue && <Queue queue={state.queue} onLeave={() => lobby.leaveQueue()} />;
    case "table":
      if (!state.table) return <Opening />;
      return (
        <Table
          model={tableModel(state.table, around(app, state))}
          sound={state.look.sound}
          look={look}
          onSound={(sound) => app.setLook({ ...state.look, sound })}
          onChoose={(promptId, choiceId) => table.choose(promptId, choiceId)}
          onDiscard={(promptId, tile, call) => table.discard(promptId, tile, call)}
          onReady={() => void table.ready()}
          onFill={() => void table.fill()}
          onSwitch={(name, on) => app.setSwitch(name, on)}
          onLeave={() => void app.leaveTable()}
        />
      );
    case "replay":
      return <ReplayOf app={app} state={state} />;
  }
}

function Opening() {
  return (
    <main class="page sign-in">
      <p role="status">
        <Brand /> <span class="quiet">Going to the table …</span>
      </p>
    </main>
  );
}

function ReplayOf({ app, state }: { app: App; state: AppState }) {
  const { replay } = state;
  const shown = replay?.states[replay.step];
  if (!replay || !shown) return null;
  const surroundings = around(app, { ...state, table: null, connection: "live", explained: null });
  return (
    <ReplayScreen
      model={tableModel(shown, surroundings)}
      step={replay.step}
      steps={replay.states.length}
      settlementClosed={replay.settlementClosed}
      onStep={(step) => app.store.set({ replay: atStep(replay, step) })}
      onCloseSettlement={() => app.store.set({ replay: { ...replay, settlementClosed: true } })}
      onLeave={() => app.closeReplay()}
    />
  );
}
