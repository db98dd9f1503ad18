import { expect, test } from "vitest";
import type { RequestId } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";
import { Waits } from "./waiters.ts";

const a = "a" as RequestId;
const b = "b" as RequestId;

function waiting() {
  const waits = new Waits();
  const ended: string[] = [];
  const add = (id: RequestId, name: string, until = 0, present = true) => {
    const end = () => {
      remove();
      ended.push(name);
    };
    const remove = waits.add(id, { until: until as Instant, present, end });
    return remove;
  };
  return { waits, ended, add };
}

test("end() ends every long poll for that request, and no other", () => {
  const { waits, ended, add } = waiting();
  add(a, "a1");
  add(a, "a2");
  add(b, "b");
  waits.end(a);
  expect([ended, waits.size, waits.has(a), waits.has(b)]).toEqual([["a1", "a2"], 1, false, true]);
  waits.end(a);
  expect(ended).toHaveLength(2);
});

test("endAll() ends every long poll", () => {
  const { waits, ended, add } = waiting();
  add(a, "a");
  add(b, "b");
  waits.endAll();
  expect([ended, waits.size]).toEqual([["a", "b"], 0]);
});

test("add() returns a function that removes the wait, and that may be called twice", () => {
  const { waits, ended, add } = waiting();
  const stop = add(a, "a1");
  add(a, "a2");
  stop();
  stop();
  expect([waits.size, waits.has(a)]).toEqual([1, true]);
  waits.end(a);
  expect(ended).toEqual(["a2"]);
});

test("presentUntil() returns the latest end of the client's own polls, not of observers'", () => {
  const { waits, add } = waiting();
  const stop = add(a, "a1", 30);
  add(a, "a2", 20);
  add(a, "observer", 90, false);
  add(b, "observer", 90, false);
  expect([waits.presentUntil(a), waits.presentUntil(b)]).toEqual([30, undefined]);
  stop();
  expect(waits.presentUntil(a)).toBe(20);
  expect(waits.presentUntil("c" as RequestId)).toBeUndefined();
  expect([...waits.ids()]).toEqual([a, b]);
});
