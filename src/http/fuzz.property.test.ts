import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkState } from "../../sim/invariants.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asLease, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;

beforeAll(async () => {
  site = await testSite([pool("aws", 3), pool("gcp", 2)]);
});
afterAll(() => site[Symbol.asyncDispose]());

const line = fc.constantFrom(
  "POST /v1/leases",
  "POST /v1/leases/ID/heartbeat",
  "DELETE /v1/leases/ID",
  "DELETE /v1/leases/ID/claims/1",
  "DELETE /v1/requests/ID",
  "PATCH /v1/resources/aws-1",
  "PATCH /v1/resources/nothing",
  "GET /v1/leases",
  "GET /v1/requests/ID",
  "GET /v1/explain/ID",
  "GET /v1/pools/aws",
  "POST /nowhere",
);

/** Bodies that are nearly right reach further than noise does. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom("aws", "gcp", "90s", "0", "1e999", "__proto__", "\u0000", "\ud800", -0, 1e308),
);
const field = fc.constantFrom(
  ...["items", "holder", "requestId", "ttl", "lifetime", "priority", "labels", "wait"],
  ...["drained", "state", "note", "userData", "by", "reason", "pool", "count", "__proto__"],
);
const nearlyRight = fc
  .tuple(
    fc.constantFrom(askBody("aws"), { drained: false }, {}),
    fc.dictionary(field, odd, { maxKeys: 4 }),
  )
  .map(([base, { wait: _, ...more }]) => ({ ...base, ...more }));
const body = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  nearlyRight.map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const query = fc.oneof(
  fc.constant(""),
  fc
    .dictionary(
      fc.constantFrom("wait", "limit", "after", "state", "force", "pool", "x"),
      fc.string(),
    )
    .map((values) => `?${new URLSearchParams(values)}`),
);

test("no body and no query whatsoever is answered with 5xx, and the state stays sound", async () => {
  await fc.assert(
    fc.asyncProperty(line, query, body, fc.boolean(), async (what, asked, payload, mine) => {
      // Long polls are for other tests: here nobody would ever wake them.
      const search = asked.replace(/\bwait=[^&]*/, "wait=0");
      const { id, token } = mine
        ? asLease(await site.call("POST /v1/leases", { body: askBody("gcp") }))
        : { id: "x", token: "nonsense" };
      const answer = await site.call(`${what.replace("ID", id)}${search}`, {
        ...(what.startsWith("GET") ? {} : { body: payload }),
        token,
      });
      expect(answer.status, answer.text).toBeLessThan(500);
      if (answer.status >= 400) {
        expect(answer.type).toBe("application/problem+json");
        expect(answer.body).toMatchObject({ code: expect.any(String), hint: expect.any(String) });
      }
      await site.broker.read(checkState);
    }),
    { numRuns: 1_000 },
  );
  expect(site.log()).not.toContain("a bug");
});
