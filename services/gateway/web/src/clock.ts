/** Clocks are computed from the server's deadlines at the moment they are shown, never counted down (C101). */

import type { ClockModel } from "./model";

export const WARNING_MS = 3000;

export interface ClockFace {
  readonly phase: "base" | "reserve" | "over";
  /** Whole seconds left of the phase, rounded up. */
  readonly seconds: number;
  /** Part of the phase that is left, 1 to 0. */
  readonly left: number;
  /** Whole seconds of reserve left. */
  readonly reserveSeconds: number;
  /** Three seconds or less are left of the phase. */
  readonly warning: boolean;
}

/** What a clock shows at `now` (server time). */
export function clockFace(clock: ClockModel, now: number): ClockFace {
  const base = clock.baseEndsAt - now;
  if (base > 0) {
    const shown = Math.min(base, clock.baseMs);
    return {
      phase: "base",
      seconds: Math.ceil(shown / 1000),
      left: clock.baseMs > 0 ? shown / clock.baseMs : 0,
      reserveSeconds: Math.ceil(clock.reserveMs / 1000),
      warning: base <= WARNING_MS,
    };
  }
  const reserve = Math.max(0, clock.reserveMs + base);
  return {
    phase: reserve > 0 ? "reserve" : "over",
    seconds: Math.ceil(reserve / 1000),
    left: clock.reserveMs > 0 ? reserve / clock.reserveMs : 0,
    reserveSeconds: Math.ceil(reserve / 1000),
    warning: reserve <= WARNING_MS,
  };
}

/** Server time minus local time, from one ping: the answer is taken to have been made halfway. */
export function offsetOf(sentAt: number, serverTime: number, receivedAt: number): number {
  return serverTime - (sentAt + receivedAt) / 2;
}

/** Whole seconds until a moment, never below zero. */
export function secondsUntil(moment: number, now: number): number {
  return Math.max(0, Math.ceil((moment - now) / 1000));
}
