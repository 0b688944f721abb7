import type { JSX } from "preact";
import { LookControls } from "../src/LookControls";
import { Lobby } from "../src/lobby/Lobby";
import type { LobbyModel } from "../src/lobby/model";
import { Queue } from "../src/lobby/Queue";
import { SignIn } from "../src/lobby/SignIn";

const nothing = () => undefined;

const lobby: LobbyModel = {
  name: "Quiet heron",
  guest: true,
  rulesets: [
    { id: "hkos-3-v1", name: "Hong Kong Old Style" },
    { id: "classical", name: "Chinese Classical" },
  ],
  ratings: new Map([["hkos-3-v1", { value: 1512, provisional: true }]]),
  tables: [
    {
      id: "a",
      name: "Friday evening",
      ruleset: "hkos-3-v1",
      speed: "relaxed",
      rated: false,
      players: ["Ines"],
      freeSeats: 3,
    },
    {
      id: "b",
      name: "",
      ruleset: "hkos-3-v1",
      speed: "blitz",
      rated: true,
      players: ["Tomas", "Ondine"],
      freeSeats: 2,
    },
  ],
  hands: [
    { id: "h1", ruleset: "hkos-3-v1", endedMs: 1.79e12, names: [], change: 24, winner: "You", rated: true },
    { id: "h2", ruleset: "hkos-3-v1", endedMs: 1.78e12, names: [], change: -8, winner: "Meilin", rated: false },
  ],
  seatedAt: "t1",
  busy: false,
  problem: "",
};

export const SCREENS: Record<string, JSX.Element> = {
  "sign-in": <SignIn busy={false} problem="" onGuest={nothing} onLogIn={nothing} onRegister={nothing} />,
  queue: (
    <Queue
      queue={{ ruleset: "Hong Kong Old Style", waiting: 2, fillAtMs: Date.now() + 12_000, serverOffsetMs: 0 }}
      onLeave={nothing}
    />
  ),
  lobby: (
    <Lobby
      model={lobby}
      look={<LookControls look={{ scheme: "system", face: "classic", sound: true, sort: true }} onLook={nothing} />}
      onQuickPlay={nothing}
      onComputers={nothing}
      onCreate={nothing}
      onJoin={nothing}
      onJoinCode={nothing}
      onWatch={nothing}
      onReturn={nothing}
      onReplay={nothing}
      onRegister={nothing}
      onRefresh={nothing}
      onLogOut={nothing}
    />
  ),
};
