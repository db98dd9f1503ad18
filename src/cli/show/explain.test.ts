import { expect, test } from "vitest";
import type { Estimate, WaitingRequest } from "../../api/schemas.ts";
import { explanationLines } from "./explain.ts";

const request: WaitingRequest = {
  ...{ id: "r1", requestId: null, holder: "ci/1", priority: 0, labels: {}, ttl: "10m" },
  ...{ items: [], queuedAt: "2026-11-17T12:00:00.000Z", waitedSeconds: 60, position: 3 },
  ...{ etaSeconds: null, estimate: null },
  reason: { code: "paced", pool: "aws", message: "paced; 2 ahead" },
};
const soon = { p50Seconds: 20, p90Seconds: 40, samples: 12, exact: false };
const first = (second: number) => {
  const at = `2026-11-17T12:00:${second}.000Z`;
  return { p50At: at, p90At: at };
};

test.each<[string, Estimate | null, string]>([
  ["without an estimate", null, "place 3. paced"],
  ["that is late", { ...soon, first: first(59) }, "within 40s; later than first estimated."],
  ["that is overdue", { ...soon, p90Seconds: 0 }, "place 3, its turn comes later than estimated."],
  ["of an older server", soon, "within 40s. paced"],
])("explanationLines() of a request %s", (_, estimate, want) => {
  const lines = explanationLines({ request: { ...request, estimate }, needs: [] });
  expect(lines.join("\n")).toContain(want);
});
