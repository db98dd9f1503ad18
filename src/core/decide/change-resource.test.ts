import { describe, expect, test } from "vitest";
import { apply } from "../apply/apply.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { ResourceName } from "../model/ids.ts";
import { acquire, change, Lending, operator, pool, release, renew } from "./lending.suite.ts";

describe("change-resource", () => {
  test("drains: its holder keeps it, no other request gets it", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    expect(lending.do(change("aws-1", { drained: true })).events).toEqual([
      { type: "resource-changed", resource: "aws-1", drained: true, reason: operator },
    ]);
    lending.outcome(acquire("b", "aws"), release("a"));
    expect(lending.held("b")).toBeUndefined();
    lending.do(change("aws-1", { drained: false }));
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("quarantines with a note, and frees again, which forgets the note", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { state: "quarantined", note: "exit code 3" }));
    expect(lending.resource("aws-1")).toMatchObject({ state: "quarantined", note: "exit code 3" });
    lending.do(acquire("a", "aws"));
    lending.do(change("aws-1", { state: "free" }));
    expect(lending.resource("aws-1").note).toBe("");
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("refuses to set the state of a held resource, and names the holder", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    expect(lending.do(change("aws-1", { state: "free", drained: true }))).toEqual({
      events: [],
      outcome: {
        type: "refused",
        refusal: { code: "resource_held", resource: "aws-1", holder: "job-a" },
      },
    });
  });

  test("frees a resource from its rest", () => {
    const lending = new Lending(pool("aws", 1, { cooldownMs: 9_000 }));
    lending.outcome(acquire("a", "aws"), release("a"), change("aws-1", { state: "free" }));
    expect(lending.outcome(acquire("b", "aws"))).toMatchObject({ type: "granted" });
    expect(lending.tickAt(9_000).events).toEqual([]);
  });

  test("rests on while it is drained, labelled or noted", () => {
    const lending = new Lending(pool("aws", 1, { cooldownMs: 9_000 }));
    lending.outcome(acquire("a", "aws"), release("a"));
    lending.outcome(change("aws-1", { drained: true, note: "x", labels: { a: "b" } }));
    expect(lending.resource("aws-1").state).toBe("cooling");
    expect(lending.tickAt(9_000).events).toMatchObject([{ type: "resource-rested" }]);
  });

  test.each([
    ["adds", { a: "1" }, { b: "2" }, { a: "1", b: "2" }],
    ["replaces", { a: "1" }, { a: "2" }, { a: "2" }],
    ["removes with null", { a: "1", b: "2" }, { a: null }, { b: "2" }],
    ["removes the last", { a: "1" }, { a: null }, {}],
    ["keeps an empty value", {}, { a: "" }, { a: "" }],
  ])("%s labels and user data", (_, before, merge, want) => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { labels: before, userData: before }));
    lending.do(change("aws-1", { labels: merge, userData: merge }));
    expect(lending.resource("aws-1")).toMatchObject({ labels: want, userData: want });
    expect(Object.keys(lending.resource("aws-1").labels)).toEqual(Object.keys(want));
  });

  test("writes only the entries of user data that change", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { userData: { big: "x".repeat(16_000), old: "1", same: "1" } }));
    const merge = { old: null, same: "1", absent: null, toString: null, tiny: "new" };
    const { events } = lending.do(change("aws-1", { userData: merge }));
    expect(events).toEqual([
      {
        type: "resource-changed",
        resource: "aws-1",
        userDataChanges: { old: null, tiny: "new" },
        reason: operator,
      },
    ]);
    expect(Object.keys(lending.resource("aws-1").userData)).toEqual(["big", "same", "tiny"]);
  });

  test("reads the events of older versions, which have all user data", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { userData: { gone: "1" } }));
    const resource = "aws-1" as ResourceName;
    const older: BrokerEvent = { type: "resource-changed", resource, userData: { all: "2" } };
    apply(lending.state, older, lending.now);
    expect(lending.resource("aws-1").userData).toEqual({ all: "2" });
  });

  test("takes names from JavaScript's depths as names", () => {
    const lending = new Lending(pool("aws", 1));
    const odd = JSON.parse('{"__proto__": "x", "constructor": "y", "toString": "z"}');
    lending.do(change("aws-1", { labels: odd, userData: odd }));
    expect(JSON.stringify(lending.resource("aws-1").labels)).toBe(JSON.stringify(odd));
    expect(Object.getPrototypeOf(lending.resource("aws-1").labels)).toBe(Object.prototype);
  });

  test.each([
    { drained: false },
    { state: "free" },
    { note: "" },
    { labels: { absent: null } },
    { userData: {} },
    {},
  ])("changes nothing where %j is already so", (wanted) => {
    const lending = new Lending(pool("aws", 1));
    expect(lending.do(change("aws-1", wanted))).toEqual({ events: [], outcome: { type: "done" } });
  });

  test("an undrain ends the note that is the reason of the drain, and keeps any other", () => {
    const lending = new Lending(pool("aws", 2));
    const { why } = operator;
    lending.do(change("aws-1", { drained: true, note: why }));
    expect(lending.do(change("aws-1", { drained: false })).events).toMatchObject([
      { drained: false, note: "" },
    ]);
    lending.do(change("aws-2", { state: "quarantined", note: "no disk" }));
    lending.do(change("aws-2", { drained: true }));
    lending.do(change("aws-2", { drained: false }));
    expect(lending.resource("aws-2").note).toBe("no disk");
  });

  test.each(["busy", "cooling", "drained"])(
    "refuses the state %s, which is the broker's own",
    (state) => {
      const lending = new Lending(pool("aws", 1));
      const refusal = { code: "state_reserved", state };
      expect(lending.outcome(change("aws-1", { state }))).toEqual({ type: "refused", refusal });
    },
  );

  test.each(["labels", "userData"] as const)("bounds %s, however many calls bring them", (what) => {
    const lending = new Lending(pool("aws", 1));
    let outcome = lending.outcome(change("aws-1", { [what]: { first: "1" } }));
    for (let number = 0; number < 200 && outcome.type !== "refused"; number++) {
      outcome = lending.outcome(change("aws-1", { [what]: { [`key-${number}`]: "x" } }));
    }
    expect(outcome).toMatchObject({
      refusal: { code: "too_many_entries", resource: "aws-1", max: 64 },
    });
    expect(Object.keys(lending.resource("aws-1")[what])).toHaveLength(64);
    const swap = change("aws-1", { [what]: { first: null, other: "1" } });
    expect(lending.outcome(swap)).toEqual({ type: "done" });
  });

  test.each([
    ["NUL in a value", { a: "x\0" }, { why: "value_has_nul", key: "a" }],
    ["a control character in a name", { "a\u009b": "x" }, { why: "bad_name", max: 253 }],
  ])("refuses user data with %s, and changes nothing", (_, userData, fault) => {
    const lending = new Lending(pool("aws", 1));
    expect(lending.do(change("aws-1", { userData, drained: true }))).toEqual({
      events: [],
      outcome: {
        type: "refused",
        refusal: { code: "user_data_refused", resource: "aws-1", fault },
      },
    });
  });

  test("bounds the length of all user data, however many calls bring it", () => {
    const lending = new Lending(pool("aws", 1));
    const add = (key: string) =>
      lending.outcome(change("aws-1", { userData: { [key]: "x".repeat(16_000) } }));
    for (const key of ["a", "b", "c", "d"]) expect(add(key)).toEqual({ type: "done" });
    const fault = { why: "total_too_long", max: 65_536 };
    expect(add("e")).toMatchObject({ refusal: { code: "user_data_refused", fault } });
    expect(lending.outcome(change("aws-1", { userData: { a: null } }))).toEqual({ type: "done" });
    expect(add("e")).toEqual({ type: "done" });
  });

  test("finds no resource that is not there, but one that was probably meant", () => {
    const lending = new Lending(pool("aws", 2));
    expect(lending.outcome(change("aws-11", { drained: true }))).toEqual({
      type: "refused",
      refusal: { code: "resource_not_found", resource: "aws-11", nearest: "aws-1" },
    });
    expect(lending.outcome(change("something", { drained: true }))).toEqual({
      type: "refused",
      refusal: { code: "resource_not_found", resource: "something" },
    });
  });

  test("shows the holder new user data at the next heartbeat", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), change("aws-1", { userData: { key: "s3cret" } }));
    expect(lending.outcome(renew("a"))).toMatchObject({
      lease: { claims: [{ userData: { key: "s3cret" } }] },
    });
  });
});
