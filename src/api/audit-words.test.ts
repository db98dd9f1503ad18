import { expect, test } from "vitest";
import { type AuditPart, auditVerb, auditWords, counts } from "./audit-words.ts";

const shown = (parts: readonly AuditPart[]) =>
  parts.map((part) => (typeof part === "string" ? part : `<${part.of}>`)).join("");

test.each([
  ["resource-changed", { drained: true }, "drained <resources>"],
  ["resource-changed", { drained: false }, "undrained <resources>"],
  ["resource-changed", { state: "quarantined" }, "quarantined <resources>"],
  ["resource-changed", { state: "free" }, "returned <resources> to service"],
  [
    "resource-changed",
    { state: "free", drained: false },
    "undrained <resources> and returned to service",
  ],
  ["resource-changed", { state: "dirty" }, "set <resources> to dirty"],
  ["resource-changed", { state: "constructor" }, "set <resources> to constructor"],
  ["resource-changed", { labels: {} }, "changed the labels of <resources>"],
  ["resource-changed", { userDataKeys: ["a", "b"] }, "changed the user data (a, b) of <resources>"],
  ["resource-changed", undefined, "changed the note of <resources>"],
  ["lease-ended", { end: "released" }, "released <resources> of <holder>"],
  ["lease-ended", { end: "revoked" }, "ended the lease of <holder> on <resources>"],
  [
    "lease-ended",
    { end: "expired" },
    "took <resources> back from <holder>: no heartbeat came in time",
  ],
  ["request-left", { end: "cancelled" }, "removed <holder> from the queue"],
  [
    "rate-changed",
    { how: "pinned", rate: 4.99999 },
    "pinned the start rate of <pools> to 5 per minute",
  ],
  ["hub-set", { hub: "east", state: "cordoned" }, "cordoned the hub east"],
  [
    "priority-changed",
    { priority: 0, starved: true },
    "put <holder> first: its space got nothing of <pools> for its patience",
  ],
  ["hub-set", undefined, "changed a hub"],
  ["call-refused", { call: "PATCH /v1/resources" }, "was refused: PATCH /v1/resources"],
  [
    "configuration-changed",
    { changes: { "spaces-defined": 1, "pool-defined": 1, "resource-added": 1_024 } },
    "changed the configuration: spaces defined, 1 pool defined, 1,024 resources added",
  ],
  ["of-a-newer-server", undefined, "of a newer server <pools>"],
  ["constructor", undefined, "constructor <pools>"],
] as const)("%s %j is: %s", (action, detail, want) => {
  const resources = action === "lease-ended" ? { resources: ["aws-1"] } : undefined;
  const entry = { action, ...resources, ...(detail && { detail }) };
  expect(shown(auditWords(entry))).toBe(want);
});

test("the queue grants, and a caller gets", () => {
  const granted = (way: string) => shown(auditWords({ action: "lease-granted", way }));
  expect(granted("clock")).toBe("granted <resources> to <holder>");
  expect(granted("http")).toBe("got <resources> for <holder>");
});

test("the verb has no names", () => {
  expect(auditVerb({ action: "resource-changed", detail: { drained: true } })).toBe("drained");
  expect(auditVerb({ action: "hub-set", detail: { hub: "a", state: "active" } })).toBe(
    "activated the hub a",
  );
});

test("counts of an unknown shape are empty", () => {
  expect(counts(undefined)).toBe("");
  expect(counts({ "rate-changed": 2 })).toBe("2 start rates changed");
});

test.each([
  ["released", "ended the lease of <holder>, which held nothing any more"],
  ["expired", "ended the lease of <holder>: no heartbeat came in time"],
])("a lease without resources that ended as %s: %s", (end, want) => {
  expect(shown(auditWords({ action: "lease-ended", detail: { end } }))).toBe(want);
});
