import { expect, test } from "vitest";
import { verbOf, waitText } from "./event-verbs.ts";

test.each([
  [{ type: "resource-rested", state: "free" }, "went back to free after its cooldown"],
  [{ type: "resource-changed", drained: true }, "was drained"],
  [
    { type: "resource-changed", state: "quarantined", note: "disk\nbroken" },
    "was quarantined: disk",
  ],
  [{ type: "resource-added", pool: "aws" }, "was added in aws"],
  [{ type: "resource-retired", movesTo: { pool: "b" } }, "moves to b after its release"],
  [{ type: "pool-withheld", why: "no CPU" }, "lends nothing: no CPU"],
  [{ type: "cluster-reported", progress: 0.4, message: "half" }, "reports 40 %, half"],
  [{ type: "cluster-reported" }, "is in the hands of its driver"],
  [{ type: "cluster-reported", apiUrl: "https://c:6443" }, "reports its API server https://c:6443"],
  [{ type: "cluster-reported", stuck: ["a", "b"] }, "reports what blocks it: a, b"],
  [
    { type: "resource-changed", state: "free", drained: false },
    "was undrained and was returned to service",
  ],
  [{ type: "resource-changed", state: "dirty" }, "was set to dirty"],
  [{ type: "cluster-moved", state: "tombstone" }, "is gone"],
  [{ type: "cluster-moved", state: "constructor" }, "is constructor"],
  [{ type: "lease-granted" }, undefined],
])("verbOf(%j)", (event, want) => {
  expect(verbOf(event)).toBe(want);
});

test.each([
  ["paced", " after waiting for the pace"],
  ["of_a_newer_server", ""],
  [undefined, ""],
])("waitText(%j)", (code, want) => {
  expect(waitText(code)).toBe(want);
});
