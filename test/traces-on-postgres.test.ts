/** One trace over two servers: the one that was called, and the leader. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";
import { attributeOf, TraceReceiver } from "./trace-receiver.ts";

const database = testDatabase();
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

test("a call that a follower passes on is one trace, and has one id", async () => {
  await using receiver = await TraceReceiver.start();
  await using world = await ReplicaWorld.start(2, {
    port: database.port,
    address: (port) => database.through(port, "traces"),
    config: { pools: { aws: { count: 1 } } },
    environment: () => receiver.environment,
  });
  const [follower] = await world.followers();
  const answer = await fetch(`${follower?.url}/v1/leases`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-request-id": "job-7",
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({ holder: "e2e/1", items: [{ pool: "aws" }] }),
  });
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([201, "job-7"]);
  const spans = () => receiver.spans.filter((span) => span.traceId === traceId);
  const named = (name: string) => spans().filter((span) => span.name === name);
  const names = ["POST /v1/leases", "POST /v1/leases", "relay to the leader", "decide and commit"];
  // Each server sends its own when they have ended, in any order.
  while (names.some((name) => named(name).length < names.filter((each) => each === name).length)) {
    await setTimeout(20);
  }
  const calls = named("POST /v1/leases");
  const first = calls.find((span) => span.parentSpanId === "00f067aa0ba902b7");
  const [relay] = named("relay to the leader");
  const second = calls.find((span) => attributeOf(span, "berth.relayed") === true);
  const [decision] = named("decide and commit");
  expect(relay?.parentSpanId).toBe(first?.spanId);
  expect(second?.parentSpanId).toBe(relay?.spanId);
  expect(decision?.parentSpanId).toBe(second?.spanId);
  expect(calls.map((span) => attributeOf(span, "berth.call.id"))).toEqual(["job-7", "job-7"]);
});
