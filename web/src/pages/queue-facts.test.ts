import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { queueFacts } from "./queue-facts.ts";

const request = (id: string, second: number, code: string) =>
  ({ id, queuedAt: `2030-01-01T12:00:0${second}.000Z`, reason: { code } }) as WaitingRequest;

test("queueFacts() finds the longest wait, the most frequent reason and the late ones", () => {
  const queue = [
    request("a", 3, "paced"),
    request("b", 1, "no_free"),
    request("c", 2, "no_free"),
    request("d", 4, "admission"),
  ];
  const paces = [...queue, request("e", 5, "limit_reduced"), request("f", 6, "limit_reduced")];
  const { oldest, cause, late } = queueFacts(queue, ({ id }) => id > "b");
  expect([oldest?.id, cause, late]).toEqual(["b", { what: "a release", count: 2 }, 2]);
  expect(queueFacts(paces, () => false).cause).toEqual({ what: "the pace", count: 3 });
  expect(queueFacts([], () => true)).toEqual({ oldest: undefined, cause: undefined, late: 0 });
});
