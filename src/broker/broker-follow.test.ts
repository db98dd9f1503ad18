/** A server that follows the journal of another. */
import { expect, test } from "vitest";
import { acquire, pool } from "../core/decide/lending.suite.ts";
import { brokerOf, openBroker } from "./test-broker.suite.ts";

test("follow() reads the journal once for all who ask while it is being read", async () => {
  const { broker, journal, clock } = await brokerOf([pool("aws", 9)]);
  const other = await openBroker({ memory: journal.memory, clock, startAs: "standby" });
  let reads = 0;
  const read = other.journal.read.bind(other.journal);
  other.journal.read = (seq) => {
    reads += 1;
    return read(seq);
  };
  await broker.submit(acquire("a", "aws"));
  await Promise.all(Array.from({ length: 50 }, () => other.broker.follow()));
  expect(reads).toBe(2);
  expect(other.broker.head).toBe(broker.head);
});
