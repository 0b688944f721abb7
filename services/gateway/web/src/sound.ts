/** Four quiet sounds, made by the browser itself: tile, claim, win, your turn. */

import type { TableUpdate } from "./gen/eastwind/table/v1/view_pb";
import type { TableState } from "./state/table";

type Sound = "tile" | "claim" | "win" | "turn";

/** Frequencies in hertz, one after the other, and how long each sounds in seconds. */
const NOTES: Record<
  Sound,
  { readonly pitches: readonly number[]; readonly length: number; readonly shape: OscillatorType }
> = {
  tile: { pitches: [190], length: 0.045, shape: "triangle" },
  claim: { pitches: [294, 440], length: 0.07, shape: "triangle" },
  win: { pitches: [392, 494, 587, 784], length: 0.12, shape: "sine" },
  turn: { pitches: [659], length: 0.12, shape: "sine" },
};
const VOLUME = 0.08;

export class Sounds {
  private context: AudioContext | null = null;

  constructor(private readonly isOn: () => boolean) {}

  /** Plays what an update sounds like; a whole view is silent. */
  update(before: TableState | null, after: TableState, update: TableUpdate): void {
    if (!before || update.view) return;
    const cases = new Set(update.events.map(({ event }) => event.case));
    if (cases.has("handWon")) this.play("win");
    else if (cases.has("meldClaimed") || cases.has("kongDeclared")) this.play("claim");
    else if (cases.has("tileDiscarded")) this.play("tile");
    const asked = (state: TableState) =>
      (state.view.decision?.options.length ?? 0) > 0 && state.view.decision?.decision;
    if (asked(after) && asked(after) !== asked(before)) this.play("turn");
  }

  private play(sound: Sound): void {
    if (!this.isOn()) return;
    this.context ??= new AudioContext();
    // Browsers keep a page silent until it was first touched.
    if (this.context.state !== "running") {
      void this.context.resume();
      return;
    }
    const { pitches, length, shape } = NOTES[sound];
    pitches.forEach((pitch, index) => {
      this.note(pitch, length, shape, index * length * 0.8);
    });
  }

  private note(pitch: number, length: number, shape: OscillatorType, delay: number): void {
    const { context } = this;
    if (!context) return;
    const start = context.currentTime + delay;
    const tone = new OscillatorNode(context, { type: shape, frequency: pitch });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(VOLUME, start);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + length * 2);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + length * 2);
  }
}
