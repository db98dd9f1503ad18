import { expect, test } from "vitest";
import { World } from "./world.ts";

test("World runs entries in order of time, then of creation", async () => {
  const world = new World();
  const happened: string[] = [];
  world.at(20, () => happened.push("c"));
  world.at(10, () => happened.push("a"));
  world.at(10, () => happened.push("b"));
  world.after(5, () => world.after(25, () => happened.push("d")));
  while (await world.step(100));
  expect(happened).toEqual(["a", "b", "c", "d"]);
  expect(world.nowMs).toBe(30);
});

test("World stops at the given end and keeps later entries", async () => {
  const world = new World();
  let happened = 0;
  world.at(10, () => happened++);
  world.at(30, () => happened++);
  while (await world.step(20));
  expect([happened, world.nowMs]).toEqual([1, 10]);
  while (await world.step(30));
  expect(happened).toBe(2);
});

test("World drops cancelled entries", async () => {
  const world = new World();
  let happened = 0;
  world.at(10, () => happened++)();
  while (await world.step(100));
  expect(happened).toBe(0);
});

test("World lets every promise settle between two entries", async () => {
  const world = new World();
  const happened: string[] = [];
  const slowly = async () => {
    await Promise.resolve();
    await new Promise((resolve) => process.nextTick(resolve));
    happened.push("first");
  };
  world.at(10, () => void slowly());
  world.at(10, () => happened.push("second"));
  while (await world.step(100));
  expect(happened).toEqual(["first", "second"]);
});
