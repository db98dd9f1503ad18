import { expect, test } from "vitest";
import { renew } from "../core/decide/lending.suite.ts";
import type { Instant } from "../core/model/time.ts";
import { BrokerOverloaded } from "./broker-contract.ts";
import { CommandQueue } from "./waiters.ts";

const at = 1 as Instant;

function added(queue: CommandQueue, ...ids: readonly string[]): void {
  for (const id of ids) queue.add(renew(id), at).catch(() => {});
}

test("CommandQueue.requeue() puts a batch before all that came since", () => {
  const queue = new CommandQueue(9);
  added(queue, "a", "b");
  const batch = queue.takeBatch();
  expect(queue.length).toBe(0);
  added(queue, "c");
  queue.requeue(batch);
  expect(queue.takeBatch().map(({ command }) => command)).toEqual(["a", "b", "c"].map(renew));
});

test("CommandQueue.add() refuses what is one too many, and nothing before", async () => {
  const queue = new CommandQueue(2);
  added(queue, "a", "b");
  expect(queue.length).toBe(2);
  await expect(queue.add(renew("c"), at)).rejects.toThrow(BrokerOverloaded);
  expect(queue.length).toBe(2);
});
