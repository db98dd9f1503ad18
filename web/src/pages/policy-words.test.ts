import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import { meaningOf, policyFacts } from "./policy-words.ts";

const { policy } = poolAnswer({
  policy: {
    hold: "20m",
    onRelease: "dirty",
    silence: { busy: { after: "30m", to: "dirty" }, leased: { after: "2h", to: "free" } },
    dynamic: { min: 0, max: 5, state: "free", lifespan: null },
    cleaning: { retries: 3, backoff: "1m" },
    pace: { every: "24s", burst: 5, jitter: 0 },
    parent: "account",
    limit: 3,
  },
});

test("policyFacts() has a label for each field that is set", () => {
  expect(policyFacts({ policy })).toEqual([
    ["Heartbeat timeout", "5m"],
    ["Auto-release after", "20m"],
    ["Pause after a lost holder", "15s"],
    ["Smaller requests may overtake for", "10m"],
    ["State after release", "dirty"],
    ["State after expiry", "free"],
    [
      "Timeouts without heartbeat",
      "busy: timeout 30m, next state dirty; leased: timeout 2h, next state free",
    ],
    ["Dynamic resources", "min 0, max 5, initial state free"],
    ["Cleaning", "retries 3, backoff 1m"],
    ["Pace", "every 24s, burst 5, jitter 0"],
    ["Parent", "account"],
    ["Limit", "3"],
  ]);
});

test("policyFacts() of a shared pool begins with how its resources are chosen", () => {
  expect(policyFacts({ policy, place: "least-used" })[0]).toEqual(["Placement", "least-used"]);
});

test("policyFacts() of a limit has nothing about resources and their leases", () => {
  const limit = { used: 1, limit: 3, waiting: 0, oldestWaitSeconds: null };
  expect(policyFacts({ policy, limit })).toEqual([
    ["Pace", "every 24s, burst 5, jitter 0"],
    ["Parent", "account"],
    ["Limit", "3"],
  ]);
});

test("policyFacts() shows what a newer server has under its key", () => {
  const newer = { ...policy, quota: { perTeam: 3 }, colour: "red" };
  expect(policyFacts({ policy: newer })).toEqual(
    expect.arrayContaining([
      ["quota", "perTeam 3"],
      ["colour", "red"],
    ]),
  );
});

test("meaningOf() names the key of the configuration, and says what it does", () => {
  expect(meaningOf("Pause after a lost holder")).toMatch(/^lockDelay: A resource taken from/);
  expect(meaningOf("colour")).toBeUndefined();
});
