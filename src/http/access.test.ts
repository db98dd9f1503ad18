/** Every route with every role. The expectations stand here a second time, on purpose. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Role, roles } from "../auth/roles.ts";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { accessOf } from "./access.ts";
import { asProblem, routesOf, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;
beforeAll(async () => {
  site = await testSite([pool("aws", 50)], {}, undefined, testAuth);
});
afterAll(() => site[Symbol.asyncDispose]());

const everyone = ["viewer", "holder", "worker", "operator", "admin"];
const observers = ["viewer", "worker", "operator", "admin"];
const askers = ["holder", "worker", "operator", "admin"];
const cleaners = ["worker", "operator", "admin"];
const operators = ["operator", "admin"];
/** Only the token of the lease opens these. */
const nobody: string[] = [];

const allowed: Readonly<Record<string, readonly string[] | "open">> = {
  "GET /v1/leases": everyone,
  "POST /v1/leases": askers,
  "GET /v1/leases/{id}": everyone,
  "DELETE /v1/leases/{id}": nobody,
  "DELETE /v1/leases/{id}?force=true": operators,
  "POST /v1/leases/{id}/heartbeat": nobody,
  "POST /v1/leases/{id}/signal": nobody,
  "POST /v1/leases/{id}/refresh": nobody,
  "DELETE /v1/leases/{id}/claims/{claim}": nobody,
  "GET /v1/leases/{id}/claims/{claim}/access": nobody,
  "PUT /v1/leases/{id}/claims/{claim}/access": nobody,
  "POST /v1/leases/{id}/claims/{claim}/replace": nobody,
  "POST /v1/leases/{id}/claims/{claim}/report": nobody,
  "PUT /v1/leases/{id}/claims/{claim}/logs": nobody,
  "GET /v1/leases/{id}/claims/{claim}/credentials": nobody,
  "GET /v1/requests": everyone,
  "POST /v1/requests/resume": askers,
  "GET /v1/requests/{id}": everyone,
  "DELETE /v1/requests/{id}": nobody,
  "DELETE /v1/requests/{id}?force=true": operators,
  "PUT /v1/requests/{id}/priority": operators,
  "GET /v1/explain/{id}": everyone,
  "GET /v1/pools": everyone,
  "GET /v1/pool-changes": everyone,
  "GET /v1/pools/{name}": everyone,
  "PUT /v1/pools/{name}/pin": operators,
  "DELETE /v1/pools/{name}/pin": operators,
  "GET /v1/pools/{name}/limit-history": everyone,
  "GET /v1/pools/{name}/plan": everyone,
  "GET /v1/resources": everyone,
  "GET /v1/resources/{name}": everyone,
  "PATCH /v1/resources/{name}": operators,
  "GET /v1/templates": everyone,
  "GET /v1/templates/{name}": everyone,
  "GET /v1/clusters": everyone,
  "GET /v1/clusters/{name}": everyone,
  "GET /v1/clusters/{name}/logs": everyone,
  "PUT /v1/clusters/{name}": operators,
  "DELETE /v1/clusters/{name}": operators,
  "PUT /v1/clusters/{name}/access": cleaners,
  "POST /v1/clusters/{name}/lost": cleaners,
  "PUT /v1/clusters/{name}/hold": operators,
  "DELETE /v1/clusters/{name}/hold": operators,
  "POST /v1/clusters/{name}/abandon": operators,
  "GET /v1/hubs": observers,
  "GET /v1/hubs/{name}": observers,
  "GET /v1/hubs/{name}/clusters": observers,
  "PUT /v1/hubs/{name}/state": operators,
  "PUT /v1/hubs/{name}/probe": cleaners,
  "PUT /v1/hubs/{name}/clusters": cleaners,
  "GET /v1/orphans": observers,
  "POST /v1/orphans": cleaners,
  "GET /v1/templates/{name}/credentials": cleaners,
  "PUT /v1/template-checks": cleaners,
  "GET /v1/credential-checks": cleaners,
  "PUT /v1/credential-checks/{id}": cleaners,
  "GET /v1/costs": everyone,
  "GET /v1/credentials": askers,
  "PUT /v1/credentials/{name}": askers,
  "DELETE /v1/credentials/{name}": askers,
  "GET /v1/spaces": everyone,
  "GET /v1/attention": everyone,
  "GET /v1/config": everyone,
  "GET /v1/replicas": everyone,
  "GET /v1/events": everyone,
  "GET /v1/events/past": everyone,
  "GET /v1/history": everyone,
  "GET /v1/audit": operators,
  "GET /v1/stats": everyone,
  "GET /v1/stats/pools": everyone,
  "GET /v1/estimates": everyone,
  "GET /v1/trends": everyone,
  "GET /v1/search": everyone,
  "GET /v1/simulate": observers,
  "POST /v1/simulate": observers,
  "POST /v1/simulate/compare": observers,
  "GET /v1/whoami": "open",
  "GET /v1/sign-in": "open",
  "POST /v1/sign-in": "open",
  "POST /v1/sign-in/finish": "open",
  "POST /v1/session": "open",
  "DELETE /v1/session": "open",
  "GET /metrics": observers,
  "GET /healthz": "open",
  "GET /readyz": "open",
  "GET /": "open",
  "GET /openapi.json": "open",
  "GET /client.sh": "open",
  "GET /docs": "open",
  "GET /docs/errors": "open",
  "GET /docs/runbook": "open",
  "POST /acquire?type=aws&state=free&dest=busy&owner=me": askers,
  "POST /acquire?type=aws&state=dirty&dest=cleaning&owner=me": cleaners,
  "POST /acquirebystate?names=aws-1&state=free&dest=busy&owner=me": cleaners,
  "POST /release?name=aws-1&dest=free&owner=nobody": askers,
  "POST /update?name=aws-1&state=busy&owner=nobody": askers,
  "POST /reset?type=aws&state=busy&expire=1h&dest=dirty": cleaners,
  "GET /metric?type=aws": everyone,
  "GET /show-pools": everyone,
  "POST /lease/acquire?type=none": askers,
  "POST /lease/release?name=none": askers,
};

/** Refusals of authentication; a refusal of the call itself means that the caller may call. */
const refusals = ["unauthenticated", "forbidden", "token_missing", "token_wrong"];

/** As Boskos's clients send it: the name of the token, and the token as the password. */
function basic(role: Role): { headers: { authorization: string } } {
  const pair = Buffer.from(`${role}:${testTokens[role]}`).toString("base64");
  return { headers: { authorization: `Basic ${pair}` } };
}

async function isRefused(
  line: string,
  role: Role | undefined,
  credentials: object = role === undefined ? {} : { token: testTokens[role] },
): Promise<boolean> {
  const path = line.replace("{id}", "x").replace("{claim}", "1").replace("{name}", "aws");
  const answer = await site.call(path === "GET /v1/events" ? "HEAD /v1/events" : path, {
    ...credentials,
  });
  // This test sends more wrong tokens than the limit of one address allows.
  if (answer.status === 429) return true;
  if (answer.status !== 401 && answer.status !== 403) return false;
  if (answer.text === "") return true; // The answer to HEAD has no body.
  if (answer.type === "application/problem+json") return refusals.includes(asProblem(answer).code);
  // Boskos's own 401 for a wrong owner is an answer to a caller who may call.
  return !/owner mismatch/.test(answer.text);
}

describe("who may call", () => {
  test.each(Object.entries(allowed))("%s", async (line, who) => {
    const expected = roles.map((role) => [role, who === "open" || who.includes(role)]);
    const found: unknown[] = [];
    for (const role of roles) found.push([role, !(await isRefused(line, role))]);
    expect(found).toEqual(expected);
    expect(await isRefused(line, undefined)).toBe(who !== "open");
  });

  test.each(Object.entries(allowed))("%s, with basic authentication", async (line, who) => {
    // A lease has a token of its own, which is no password.
    if (who === nobody) return;
    for (const role of roles) {
      const refused = await isRefused(line, role, basic(role));
      expect([role, refused]).toEqual([role, who !== "open" && !who.includes(role)]);
    }
  });

  test("is written above, and in the OpenAPI document, for every call of the document", async () => {
    const { body } = await site.call("GET /openapi.json");
    const { paths } = body as { paths: Record<string, Record<string, { security?: unknown[] }>> };
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => ({
        line: `${method.toUpperCase()} ${path}`,
        isOpen: security === undefined,
      })),
    );
    expect(calls.length).toBeGreaterThan(30);
    for (const { line, isOpen } of calls) {
      const who = allowed[line];
      expect({ line, isWritten: who !== undefined }).toEqual({ line, isWritten: true });
      expect({ line, isOpen }).toEqual({ line, isOpen: who === "open" });
    }
  });

  test("the token of a lease opens the calls of that lease, and of no other", async () => {
    const ask = { body: { items: [{ pool: "aws" }], holder: "me" }, token: testTokens.holder };
    const one = (await site.call("POST /v1/leases", ask)).body as { id: string; token: string };
    const two = (await site.call("POST /v1/leases", ask)).body as { id: string; token: string };
    for (const line of ["POST /v1/leases/{id}/heartbeat", "GET /v1/leases/{id}"]) {
      const path = line.replace("{id}", one.id);
      expect((await site.call(path, { token: one.token })).status).toBe(200);
      expect((await site.call(path, { token: two.token })).status).toBeGreaterThanOrEqual(401);
    }
    const others = Object.entries(allowed).filter(
      ([line, who]) => who !== "open" && !/\{id\}/.test(line),
    );
    for (const [line] of others) {
      expect([line, await isRefused(line, undefined, { token: one.token })]).toEqual([line, true]);
    }
  });

  test("is written above for every route that is served", () => {
    const written = Object.keys(allowed).map((line) => line.replace(/\?.*/, ""));
    const served = routesOf(site.app.printRoutes({ commonPrefix: false }));
    const many = /\/assets\/|\/docs\/|\/\*$/;
    const calls = served.filter((route) => !many.test(route) && !isBoskosPath(route));
    expect(new Set(written.filter((line) => !many.test(line) && !isBoskosPath(line)))).toEqual(
      new Set(calls),
    );
    const boskos = new Set(served.filter(isBoskosPath).map((route) => route.split(" ")[1]));
    const known = new Set(written.filter(isBoskosPath).map((line) => line.split(" ")[1]));
    expect(known).toEqual(boskos);
  });

  test("must be declared: a route without a row does not start", () => {
    expect(() => accessOf("GET", "/v1/secrets")).toThrow(/src\/http\/access\.ts/);
    expect(() => accessOf("POST", "/docs/errors")).toThrow();
  });
});

function isBoskosPath(route: string): boolean {
  return /^\S+ \/(acquire|acquirebystate|release|update|reset|metric|show-pools|lease\/(acquire|release))$/.test(
    route,
  );
}
