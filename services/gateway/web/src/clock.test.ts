import { expect, test } from "vitest";
import { clockFace, offsetOf, secondsUntil } from "./clock";

const clock = { baseMs: 5000, baseEndsAt: 105_000, reserveMs: 20_000 };

test("the base runs first and the reserve waits beside it", () => {
  expect(clockFace(clock, 101_000)).toEqual({
    phase: "base",
    seconds: 4,
    left: 0.8,
    reserveSeconds: 20,
    warning: false,
  });
});

test("before its time has begun to run a clock shows the whole base", () => {
  expect(clockFace(clock, 90_000)).toMatchObject({ phase: "base", seconds: 5, left: 1 });
});

test("it warns during the last three seconds of a phase", () => {
  expect(clockFace(clock, 101_999).warning).toBe(false);
  expect(clockFace(clock, 102_000).warning).toBe(true);
  expect(clockFace(clock, 110_000)).toMatchObject({ phase: "reserve", seconds: 15, left: 0.75, warning: false });
  expect(clockFace(clock, 122_000)).toMatchObject({ seconds: 3, warning: true });
});

test("when all time is used it stands at zero", () => {
  expect(clockFace(clock, 125_000)).toMatchObject({ phase: "over", seconds: 0, left: 0 });
  expect(clockFace({ ...clock, reserveMs: 0 }, 999_999)).toMatchObject({ phase: "over", seconds: 0, left: 0 });
});

test("after forty seconds in the background the time is right at once (C101)", () => {
  const relaxed = { baseMs: 15_000, baseEndsAt: 115_000, reserveMs: 60_000 };
  expect(clockFace(relaxed, 100_000).seconds).toBe(15);
  // Nothing was shown in between: the answer comes from the deadline alone.
  expect(clockFace(relaxed, 140_000)).toMatchObject({ phase: "reserve", seconds: 35 });
});

test("the server's clock is placed in the middle of the round trip", () => {
  expect(offsetOf(1000, 51_020, 1040)).toBe(50_000);
});

test("seconds until a moment never go below zero", () => {
  expect(secondsUntil(10_400, 10_000)).toBe(1);
  expect(secondsUntil(9_000, 10_000)).toBe(0);
});
