import { expect, test } from "vitest";
import type { RequestId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { Waits } from "./waits.ts";

const a = "a" as RequestId;
const b = "b" as RequestId;

function waiting() {
  const waits = new Waits();
  const ended: string[] = [];
  const add = (id: RequestId, name: string, until = 0) => {
    const remove = waits.add(id, until as Instant, () => {
      remove();
      ended.push(name);
    });
    return remove;
  };
  return { waits, ended, add };
}

test("tell() ends everybody who listens for that request, and nobody else", () => {
  const { waits, ended, add } = waiting();
  add(a, "a1");
  add(a, "a2");
  add(b, "b");
  waits.tell(a);
  expect([ended, waits.size, waits.has(a), waits.has(b)]).toEqual([["a1", "a2"], 1, false, true]);
  waits.tell(a);
  expect(ended).toHaveLength(2);
});

test("tellAll() ends everybody", () => {
  const { waits, ended, add } = waiting();
  add(a, "a");
  add(b, "b");
  waits.tellAll();
  expect([ended, waits.size]).toEqual([["a", "b"], 0]);
});

test("add() returns how to stop, which may be done twice", () => {
  const { waits, ended, add } = waiting();
  const stop = add(a, "a1");
  add(a, "a2");
  stop();
  stop();
  expect([waits.size, waits.has(a)]).toEqual([1, true]);
  waits.tell(a);
  expect(ended).toEqual(["a2"]);
});

test("open() names the latest of those who listen for one request", () => {
  const { waits, add } = waiting();
  add(a, "a1", 10);
  add(a, "a2", 30);
  add(a, "a3", 20);
  add(b, "b", 5);
  expect([...waits.open()]).toEqual([
    { id: a, until: 30 },
    { id: b, until: 5 },
  ]);
});
