import { expect, test } from "vitest";
import { backoff } from "./backoff";

test("delays double up to a cap and never end (C104)", () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 100, 10_000].map((tries) => backoff(tries, 1));
  expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
});

test("jitter spreads over half of the delay", () => {
  expect(backoff(2, 0)).toBe(1000);
  expect(backoff(2, 0.5)).toBe(1500);
});

test("what the server asks for is waited for", () => {
  expect(backoff(0, 0.5, 7000)).toBe(7000);
});
