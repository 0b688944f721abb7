import { expect, test } from "vitest";
import { Once } from "./once";

test("two clicks thirty milliseconds apart give one answer (C099)", () => {
  const once = new Once();
  once.follow("p1", false, 0);
  expect([once.take(), once.take()]).toEqual([true, false]);
});

test("a prompt that was rejected may be answered again", () => {
  const once = new Once();
  once.follow("p1", false, 0);
  once.take();
  once.follow("p1", true, 10);
  expect(once.take()).toBe(false);
  once.follow("p1", false, 20);
  expect(once.take()).toBe(true);
});

test("a new prompt opens anew and its age counts from then", () => {
  const once = new Once();
  once.follow("p1", false, 0);
  once.take();
  once.follow("p2", false, 1000);
  expect(once.openFor(1100)).toBe(100);
  expect(once.take()).toBe(true);
});

test("without a prompt nothing can be taken", () => {
  const once = new Once();
  expect(once.take()).toBe(false);
  once.follow(null, false, 0);
  expect(once.take()).toBe(false);
});
