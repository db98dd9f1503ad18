/** Why a request waits for room in a shared pool. */
import { expect, test } from "vitest";
import { change, Lending, release } from "../decide/lending.suite.ts";
import type { Command } from "../model/command.ts";
import type { RequestId, ResourceName } from "../model/ids.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { explainNeeds, waitReason } from "./explain.ts";
import { resourceView } from "./resource-view.ts";

const hosts = () =>
  capacityPool({
    small: { capacity: { vcpus: 20 } },
    large: { capacity: { vcpus: 60 } },
    huge: { capacity: { vcpus: 40 }, overcommit: { vcpus: "2" } },
  });
const vcpus = (count: number, more: object = {}) => ({ amount: { vcpus: count }, ...more });
const drain = (name: string) => change(name, { drained: true });
const on = (name: string, count: number) => want(`on-${name}`, vcpus(count, { resource: name }));

test.each<[string, Command[], object, string]>([
  [
    "what is free, what there is and what is needed, on the nearest resource that is large enough",
    [on("large", 26), on("huge", 60)],
    vcpus(50),
    "no_room: Does not fit on large (closest to fitting, of 2): needs 50 vcpus (34 free)",
  ],
  [
    "the drained resource, not one that is too small",
    [drain("large"), drain("huge")],
    vcpus(50),
    "none_usable: large is drained by ann: test, huge is drained by ann: test; " +
      "no other vsphere is eligible and large enough",
  ],
  [
    "the one that is named",
    [drain("small")],
    vcpus(1, { resource: "small" }),
    "none_usable: small is drained by ann: test; no other vsphere is eligible and large enough",
  ],
  [
    "the quarantined resource and its note",
    [change("large", { state: "quarantined", note: "no network" }), drain("huge")],
    vcpus(50),
    "none_usable: large is quarantined: no network, huge is drained by ann: test; " +
      "no other vsphere is eligible and large enough",
  ],
  [
    "the drained one, if one more is needed",
    [drain("huge")],
    vcpus(50, { count: 2 }),
    "none_usable: huge is drained by ann: test; only 1 other vsphere would do",
  ],
  [
    "the room of a usable one, and the drained one that has room",
    [drain("huge"), on("large", 30)],
    vcpus(50),
    "no_room: Does not fit on large: needs 50 vcpus (30 free); " +
      "it would fit on huge, which is drained by ann: test",
  ],
  [
    "not a drained one without room",
    [on("huge", 60), drain("huge"), on("large", 30)],
    vcpus(50),
    "no_room: Does not fit on large: needs 50 vcpus (30 free)",
  ],
  [
    "all of them, if all are drained",
    [drain("small"), drain("large"), drain("huge")],
    vcpus(1),
    "none_usable: small is drained by ann: test, large is drained by ann: test, 1 more",
  ],
])("waitReason() names %s", (_, commands, wanted, text) => {
  const lending = new Lending(hosts());
  lending.outcome(...commands, want("me", wanted));
  const request = lending.state.requests.get("me" as RequestId);
  if (request === undefined) throw new Error("it does not wait");
  const { code, message } = waitReason(request, lending.now);
  expect(`${code}: ${message}`).toBe(`${text}; next in line`);
  const cordoned = explainNeeds(request, lending.now)[0]?.rooms?.map(({ unfit }) => unfit);
  const drained = commands.some((command) => command.type === "change-resource");
  expect(cordoned?.some((unfit) => unfit?.why === "cordoned")).toBe(drained);
});

test("the reason names the resource on which room is kept, and the list begins with it", () => {
  const sizes = { a: { capacity: { vcpus: 60 } }, b: { capacity: { vcpus: 60 } } };
  const lending = new Lending(capacityPool(sizes, { patienceMs: 10_000, ttlMs: 9e9 }));
  const explained = (id: string) => {
    const request = lending.state.requests.get(id as RequestId);
    if (request === undefined) throw new Error("it does not wait");
    const [first] = explainNeeds(request, lending.now)[0]?.rooms ?? [];
    return [waitReason(request, lending.now).message, first?.resource];
  };
  const onA = ["1", "2"].map((id) => want(id, vcpus(25, { resource: "a" })));
  lending.outcome(...onA, on("b", 40), want("large", vcpus(50)));
  expect(explained("large")[1]).toBe("b");
  lending.tickAt(10_000);
  // Now less is missing on a, but the room is kept on b.
  lending.outcome(release("1"), want("small", vcpus(36)));
  expect(explained("large")).toEqual([
    "Reserved on b: needs 50 vcpus (20 free); next in line",
    "b",
  ]);
  expect(explained("small")).toEqual([
    "Does not fit on a (closest to fitting, of 2): needs 36 vcpus (35 free); 1 ahead",
    "a",
  ]);
});

test("the reason says what is left after reservations, and the list what is reserved for them", () => {
  const sizes = { a: { capacity: { vcpus: 60 } } };
  const lending = new Lending(capacityPool(sizes, { patienceMs: 10_000, ttlMs: 9e9 }));
  lending.outcome(on("a", 40), want("large", vcpus(50)));
  lending.tickAt(10_000);
  lending.outcome(want("small", vcpus(36)));
  const request = lending.state.requests.get("small" as RequestId);
  if (request === undefined) throw new Error("it does not wait");
  expect(waitReason(request, lending.now).message).toBe(
    "Does not fit on a: needs 36 vcpus (10 left) after reservations; 1 ahead",
  );
  expect(explainNeeds(request, lending.now)[0]?.rooms?.[0]?.short).toEqual([
    { dimension: "vcpus", asked: 36, free: 10, reservedAhead: 10, capacity: 60 },
  ]);
});

test("the reason says how many have a reservation on the same resource before it", () => {
  const sizes = { a: { capacity: { vcpus: 60 } } };
  const lending = new Lending(capacityPool(sizes, { patienceMs: 10_000, ttlMs: 9e9 }));
  const names = Array.from({ length: 12 }, (_, index) => `large-${index + 1}`);
  lending.outcome(on("a", 60), ...names.map((name) => want(name, vcpus(5))));
  lending.tickAt(10_000);
  const messages = names.map((name) => {
    const request = lending.state.requests.get(name as RequestId);
    return request === undefined ? "" : waitReason(request, lending.now).message;
  });
  expect([0, 1, 2, 3, 10].map((index) => messages[index])).toEqual([
    "Reserved on a: needs 5 vcpus (0 free); next in line",
    "Reserved on a after 1 other: needs 5 vcpus; 1 ahead",
    "Reserved on a after 2 others: needs 5 vcpus; 2 ahead",
    "Reserved on a after 3 others: needs 5 vcpus; 3 ahead",
    "Reserved on a after 10 others: needs 5 vcpus; 10 ahead",
  ]);
});

test("the reason names the resource that has room, if it is kept for others", () => {
  const sizes = { a: { capacity: { vcpus: 60 } }, b: { capacity: { vcpus: 60 } } };
  const lending = new Lending(capacityPool(sizes, { patienceMs: 10_000, ttlMs: 9e9 }));
  lending.outcome(on("a", 57), on("b", 40), want("large", vcpus(50)));
  lending.tickAt(10_000);
  lending.outcome(want("small", vcpus(15)));
  const request = lending.state.requests.get("small" as RequestId);
  if (request === undefined) throw new Error("it does not wait");
  expect(explainNeeds(request, lending.now)[0]?.rooms?.[0]?.resource).toBe("b");
  expect(waitReason(request, lending.now).message).toBe(
    "Would fit on b, reserved for other requests; 1 ahead",
  );
});

test("a resource says how much of what is free is reserved, and for whom", () => {
  const sizes = { a: { capacity: { vcpus: 60 } } };
  const lending = new Lending(capacityPool(sizes, { patienceMs: 10_000, ttlMs: 9e9 }));
  const shown = () => {
    const resource = lending.state.resources.get("a" as ResourceName);
    if (resource === undefined) throw new Error("it is not there");
    return resourceView(resource).shared;
  };
  lending.outcome(on("a", 40), want("large", vcpus(50)));
  expect(shown()).toMatchObject({ usage: [{ used: 40, reserved: 0 }], reservations: [] });
  lending.tickAt(10_000);
  expect(shown()).toMatchObject({
    usage: [{ used: 40, capacity: 60, reserved: 10 }],
    reservations: [{ id: "large", amount: { vcpus: 50 } }],
  });
});
