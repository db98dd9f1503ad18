import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import {
  aheadIn,
  inListOrder,
  inStartOrder,
  orderWords,
  turnsIn,
  withoutPlace,
  withTurn,
} from "./start-order.ts";

interface Facts {
  readonly space?: string;
  readonly starts?: number;
  readonly pool?: string;
  readonly vcpus?: number;
}

function request(id: string, position: number, facts: Facts = {}): WaitingRequest {
  const { space, starts, pool = "aws", vcpus } = facts;
  return {
    ...{ id, position, queuedAt: `2030-01-01T12:00:0${position}.000Z` },
    ...(space === undefined ? {} : { space }),
    items: [{ pool, count: 1, state: "free", ...(vcpus && { amount: { vcpus } }) }],
    reason: { code: "paced", pool, message: `Paced; ${position - 1} ahead` },
    estimate: starts === undefined ? null : { p50Seconds: starts, p90Seconds: starts + 9 },
  } as unknown as WaitingRequest;
}

const ids = (queue: readonly WaitingRequest[]) => queue.map(({ id }) => id).join(" ");

const spaces = [
  request("a", 1, { space: "payments", starts: 3 }),
  request("b", 2, { space: "payments", starts: 39 }),
  request("c", 3, { space: "web", starts: 19 }),
  request("d", 4, { space: "web" }),
  request("e", 5, { space: "web", starts: 47 }),
];

test("inStartOrder() follows the estimates where spaces take turns; a new request stays", () => {
  expect(ids(inStartOrder(spaces))).toBe("a c b d e");
});

test("inStartOrder() follows the positions in a queue of one space, but not where sizes differ", () => {
  const own = [request("b", 2, { starts: 3 }), request("a", 1, { starts: 9 })];
  const sizes = [
    request("small", 2, { space: "web", starts: 3, vcpus: 8 }),
    request("large", 1, { space: "web", starts: 9, vcpus: 64 }),
  ];
  expect([ids(inStartOrder(own)), ids(inStartOrder(sizes))]).toEqual(["a b", "small large"]);
  expect(orderWords(sizes)).toBe(
    "in the order of the expected starts: a small one may start before a larger one",
  );
  expect(orderWords(spaces)).toBe(
    "in the order of the expected starts: each start changes the shares of the spaces",
  );
  expect(orderWords(own)).toBe("");
  // Its position is the one of this moment, and says nothing about when it fits.
  const first = request("first", 1, { space: "ops", vcpus: 64 });
  expect(ids(inStartOrder([first, ...sizes]))).toBe("small large first");
  // It may fit at any time, whoever is ahead.
  const young = request("young", 3, { space: "web", vcpus: 1 });
  expect(turnsIn([...sizes, young]).get("young")?.isNew).toBe(false);
});

test("turnsIn() gives each request the place, and those ahead of it, of the same order", () => {
  expect([...turnsIn(spaces)]).toEqual([
    ["a", { place: 1, ahead: "next in line", isNew: false }],
    ["c", { place: 2, ahead: "1 ahead, of payments", isNew: false }],
    ["b", { place: 3, ahead: "2 ahead, 1 of other spaces", isNew: false }],
    ["d", { place: 4, ahead: "3 ahead, 2 of other spaces", isNew: true }],
    ["e", { place: 5, ahead: "4 ahead, 2 of other spaces", isNew: false }],
  ]);
});

test("turnsIn() keeps the positions where the reader does not see all requests", () => {
  const seen = spaces.filter(({ space }) => space === "web");
  expect(Array.from(turnsIn(seen), ([id, { place, ahead }]) => [id, place, ahead])).toEqual([
    ["c", 3, undefined],
    ["d", 4, undefined],
    ["e", 5, undefined],
  ]);
});

test("turnsIn() has one order over the pools below a limit", () => {
  const below = [
    request("east-1", 1, { pool: "east", starts: 20 }),
    request("west-1", 1, { pool: "west", starts: 5 }),
    request("east-2", 2, { pool: "east", starts: 30 }),
  ];
  expect(Array.from(turnsIn(below), ([id, { place, ahead }]) => [id, place, ahead])).toEqual([
    ["west-1", 1, "next in line"],
    ["east-1", 2, "1 ahead"],
    ["east-2", 3, "2 ahead"],
  ]);
});

test("turnsIn() leaves out those ahead that wait for another pool first", () => {
  const here = [request("a", 1), request("b", 2), request("d", 4)];
  const places = (elsewhere: number) =>
    Array.from(turnsIn(here, elsewhere), ([id, { place, ahead, skips }]) => {
      return [id, place, ahead, skips];
    });
  expect(places(1)).toEqual([
    ["a", 1, "next in line", true],
    ["b", 2, "1 ahead", true],
    ["d", 3, "2 ahead", true],
  ]);
  // Who sees no other space does not know who is in between.
  expect(places(0).map(([id, place]) => [id, place])).toEqual([
    ["a", 1],
    ["b", 2],
    ["d", 4],
  ]);
  const all = [...here, request("c", 3, { pool: "gcp" })];
  expect(ids(aheadIn(all, "d", "aws", true) ?? [])).toBe("a b");
  expect(aheadIn(all, "d", "aws", false)).toBeUndefined();
});

test("aheadIn() lists as many as the place says, and nothing if some are hidden", () => {
  expect(ids(aheadIn(spaces, "b", "aws", true) ?? [])).toBe("a c");
  expect(aheadIn(spaces.slice(2), "d", "aws", true)).toBeUndefined();
  expect(aheadIn(spaces, "gone", "aws", true)).toBeUndefined();
});

test.each([
  ["All 8 of aws are held; 5 ahead", "All 8 of aws are held; 1 ahead"],
  ["Limit reached; others that share api are ahead", "Limit reached; 1 ahead"],
  ["None can be lent", "None can be lent"],
])("withTurn() of %s", (reason, want) => {
  expect(withTurn(reason, { place: 2, ahead: "1 ahead", isNew: false })).toBe(want);
  expect(withTurn(reason, undefined)).toBe(reason);
});

test.each([
  [
    "platform quota reached (4/4 test-license); 4 of its space ahead",
    "platform quota reached (4/4 test-license)",
  ],
  [
    "platform quota reached (4/4 test-license); next of its space",
    "platform quota reached (4/4 test-license)",
  ],
  [
    "Reserved on b after 2 others: needs 5 vcpus; 7 ahead",
    "Reserved on b after 2 others: needs 5 vcpus",
  ],
  ["Does not fit on a: needs 36 vcpus (10 free); it would fit on b, which is drained", undefined],
  ["3 ahead", undefined],
])("withoutPlace() of %s", (reason, want = reason) => {
  const turn = { place: 2, ahead: "1 ahead", isNew: false };
  expect(withoutPlace(reason, turn)).toBe(want);
  expect(withoutPlace(reason, undefined)).toBe(reason);
});

test("inListOrder() puts requests without such a time last, the oldest first", () => {
  const late = (id: string, position: number, p90At: string) => ({
    ...request(id, position),
    estimate: { p50Seconds: 1, first: { p50At: p90At, p90At } },
  });
  const requests = [
    request("c", 3, { starts: 5 }),
    request("a", 1),
    request("b", 2, { starts: 9 }),
    late("d", 4, "2030-01-01T12:00:20.000Z"),
    late("e", 5, "2030-01-01T12:00:10.000Z"),
  ] as WaitingRequest[];
  expect(ids(inListOrder(requests, ""))).toBe("a b c d e");
  expect(ids(inListOrder(requests, "start"))).toBe("d e c b a");
  expect(ids(inListOrder(requests, "late"))).toBe("e d a b c");
});
