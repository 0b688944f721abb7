/** Development only: `gallery.html?state=claim&scheme=dark&face=classic` shows one made-up state. */

import { render } from "preact";
import { useState } from "preact/hooks";
import { LookControls } from "../src/LookControls";
import { applyLook, type Look } from "../src/look";
import type { HandSwitch, TableModel } from "../src/model";
import "../src/styles/index.css";
import { Table } from "../src/table/Table";
import { STATES } from "./mocks";
import { SCREENS } from "./screens";

const query = new URLSearchParams(location.search);
const state = query.get("state") ?? "claim";
const first: Look = {
  scheme: (query.get("scheme") ?? "system") as Look["scheme"],
  face: (query.get("face") ?? "classic") as Look["face"],
  sound: true,
  sort: true,
};

declare global {
  interface Window {
    /** What the page sent, for tests of the components. */
    sent: (string | number)[];
  }
}
window.sent = [];

/** The model after an own discard, so that tiles can be seen travelling. */
function discarded(model: TableModel, tile: number, called: boolean): TableModel {
  const [own, ...others] = model.seats;
  const drawn = typeof own.drawn === "number" ? [own.drawn] : [];
  const holding = [...(own.holding as readonly number[]), ...drawn].filter((each) => each !== tile);
  const river = [...own.river, { tile, claimed: false, called }];
  return {
    ...model,
    seats: [{ ...own, holding, drawn: null, river, called: own.called || called }, ...others],
    lastDiscard: { place: 0, index: river.length - 1 },
    prompt: null,
  };
}

function Gallery({ initial }: { initial: TableModel }) {
  const [model, setModel] = useState(initial);
  const [look, setLook] = useState(first);
  const send = (what: string | number) => {
    window.sent.push(what);
    setModel({ ...model, prompt: model.prompt && { ...model.prompt, answered: true } });
  };
  return (
    <Table
      model={model}
      sound={look.sound}
      onSound={(sound) => setLook({ ...look, sound })}
      onChoose={(_prompt, id) => send(id)}
      onDiscard={(_prompt, tile, called) => {
        window.sent.push(tile);
        setModel(discarded(model, tile, called));
      }}
      onReady={() => setModel(model)}
      onFill={() => setModel(model)}
      onSwitch={(name: HandSwitch, on: boolean) => setModel({ ...model, switches: { ...model.switches, [name]: on } })}
      onLeave={() => setModel(initial)}
      look={
        <LookControls
          look={look}
          onLook={(next) => {
            setLook(next);
            void applyLook(next);
          }}
        />
      }
    />
  );
}

await applyLook(first);
const root = document.getElementById("app") as HTMLElement;
const make = STATES[state as keyof typeof STATES];
render(make ? <Gallery initial={make(Date.now())} /> : (SCREENS[state] ?? <p>No such state: {state}</p>), root);
