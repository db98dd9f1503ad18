import { expect, test } from "vitest";
import { isDecision } from "./decision.ts";
import type { AuditEntry } from "./entry.ts";

const entry = (
  action: AuditEntry["action"],
  way: AuditEntry["way"],
  reason?: string,
): AuditEntry => ({
  number: 1,
  at: "2026-01-01T00:00:00Z",
  action,
  way,
  ...(reason === undefined ? undefined : { reason }),
});

test.each([
  ["a drain", entry("resource-changed", "cli", "the disk is broken"), true],
  ["a quarantine without a reason", entry("resource-changed", "page"), true],
  ["a lease that an operator has ended", entry("lease-revoked", "page", "nobody uses it"), true],
  ["a request that an operator has removed", entry("request-left", "page", "a mistake"), true],
  ["a new configuration", entry("configuration-changed", "config"), true],
  ["a refused call", entry("call-refused", "http"), true],
  ["a deletion of old entries", entry("entries-deleted", "clock"), true],
  ["a hub that is cordoned", entry("hub-set", "cli"), true],
  ["a grant", entry("lease-granted", "http"), false],
  ["a release", entry("lease-ended", "boskos"), false],
  ["a state that a janitor has set", entry("resource-changed", "boskos"), false],
  ["the end of a lease at its deadline", entry("lease-ended", "clock", "expired"), false],
  ["a failed check", entry("pool-withheld", "worker", "exit code 1"), false],
  ["a throttled call that a holder reports", entry("pool-signalled", "http", "429"), false],
])("isDecision(): %s", (_, found, expected) => {
  expect(isDecision(found)).toBe(expected);
});
