import { expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { callIdHeader, callIds } from "./call-id.ts";
import { testSite } from "./test-site.suite.ts";

test("callIds() keeps the caller's id, and makes one for all others, never the same twice", () => {
  const idOf = callIds();
  const other = callIds();
  const given = (id: string) => idOf({ headers: { [callIdHeader]: id } });
  expect(given("gh-run/123.4:5")).toBe("gh-run/123.4:5");
  const bad = ["", 'a"b', "a b", "x".repeat(129), "a\u2028b"];
  const made = [...bad.map(given), idOf({ headers: {} }), other({ headers: {} })];
  for (const id of made) expect(id).toMatch(/^[0-9a-f]{10}-\w+$/);
  expect(new Set(made).size).toBe(made.length);
});

test.each([
  "GET /v1/pools",
  "GET /v1/none",
  "POST /v1/leases",
  "GET /healthz",
  "GET /metric?type=x",
])("%s is answered with the id of the call, whatever the answer is", async (call) => {
  await using site = await testSite([pool("aws", 1)]);
  const headers = { [callIdHeader]: "mine-1" };
  expect((await site.call(call, { headers })).headers[callIdHeader]).toBe("mine-1");
  expect((await site.call(call)).headers[callIdHeader]).toMatch(/^[0-9a-f]{10}-\w+$/);
});

test("a bug is logged with the id of the call, and the answer names it", async () => {
  await using site = await testSite([pool("aws", 1)]);
  site.templates.push(JSON.parse("null"));
  const headers = { [callIdHeader]: "mine-2" };
  const { status, body } = await site.call("GET /v1/templates", { headers });
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: "internal", hint: expect.stringContaining("mine-2") });
  const lines = site.log().trim().split("\n");
  const logged = lines.map((line) => JSON.parse(line)).filter(({ callId }) => callId === "mine-2");
  expect(logged).toMatchObject([
    { level: 50, route: "/v1/templates", err: { type: "TypeError" } },
    { level: 20, method: "GET", route: "/v1/templates", status: 500, msg: "call" },
  ]);
});
