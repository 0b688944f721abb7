const FIRST_MS = 500;
const CAP_MS = 15_000;

/**
 * How long to wait before the next try to connect: doubling, capped, with jitter, and without an end (C104). `random` is
 * between 0 and 1. A delay that the server asked for is a lower bound.
 */
export function backoff(tries: number, random: number, atLeastMs = 0): number {
  const ceiling = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(tries, 10));
  return Math.max(atLeastMs, ceiling / 2 + (ceiling / 2) * random);
}
