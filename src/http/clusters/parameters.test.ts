/** Parameters of requests are checked before anything is reserved (I1, I2, I5, I6). */
import { describe, expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import { asProblem, asRequest } from "../test-site.suite.ts";
import { clusterSite, ocpAws } from "./clusters-site.suite.ts";
import { resolveParameters } from "./parameters.ts";

const ask = (parameters: object, more: object = {}) => ({
  body: { holder: "a job", items: [{ pool: "ocp", parameters }], ...more },
});

describe("POST /v1/leases refuses", () => {
  const cases: Record<string, [object, string, RegExp, RegExp]> = {
    "a pinned name": [
      { region: "eu-west-1" },
      "parameter_pinned",
      /"region" of ocp: the template ocp-aws has pinned it/,
      /Leave it out/,
    ],
    "an unknown name, with the nearest": [
      { wokers: 3 },
      "parameter_invalid",
      /the template ocp-aws has no such parameter/,
      /Did you mean "workers"/,
    ],
    "a name of every object": [
      { constructor: "x" },
      "parameter_invalid",
      /no such parameter/,
      /Use version, workers, fips/,
    ],
    "a version outside the window, with the nearest": [
      { version: "4.18" },
      "parameter_invalid",
      /"version" of ocp to "4.18": it must be one of 4.19, 4.20/,
      /^Use 4.19 or 4.20$/,
    ],
    "a version above the window": [
      { version: "4.21" },
      "parameter_invalid",
      /must be one of/,
      /^Use 4.20 or 4.19$/,
    ],
    "a number that is too large": [
      { workers: 7 },
      "parameter_invalid",
      /"workers" of ocp to 7: it must be <= 6/,
      /GET \/v1\/templates\/ocp-aws/,
    ],
    "another type": [{ workers: "3" }, "parameter_invalid", /must be integer/, /templates/],
    "the reserved name": [
      { credentials: "team/aws#1" },
      "parameter_invalid",
      /no such parameter/,
      /Use/,
    ],
  };

  test.each(Object.entries(cases))("%s", async (_, [parameters, code, message, hint]) => {
    await using site = await clusterSite([clusterPool("ocp", { max: 5 })]);
    const before = await site.state();
    const answer = await site.call("POST /v1/leases", ask(parameters));
    const problem = asProblem(answer);
    expect([answer.status, problem.code]).toEqual([422, code]);
    expect(problem.detail).toMatch(message);
    expect(problem.hint).toMatch(hint);
    expect(await site.state()).toBe(before); // Nothing was reserved, nothing is planned.
  });

  test("parameters for a pool without a template", async () => {
    await using site = await clusterSite([pool("aws", 1), clusterPool("ocp")]);
    const body = { holder: "a job", items: [{ pool: "aws", parameters: { version: "4.20" } }] };
    const answer = await site.call("POST /v1/leases", { body });
    expect([answer.status, asProblem(answer).code]).toEqual([422, "parameters_not_allowed"]);
  });

  test("values that are neither text, number nor boolean, and too many of them", async () => {
    await using site = await clusterSite();
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`p${index}`, 1]));
    for (const parameters of [{ version: ["4.20"] }, { version: null }, { "": 1 }, many, []]) {
      expect((await site.call("POST /v1/leases", ask(parameters))).status).toBe(400);
    }
  });
});

test("a request gets a cluster with all parameters, asked and default", async () => {
  await using site = await clusterSite();
  const waiting = asRequest(await site.call("POST /v1/leases", ask({ workers: 3 })));
  expect(waiting.items).toMatchObject([{ parameters: { version: "4.20", workers: 3 } }]);
  const { body } = await site.call("GET /v1/clusters");
  expect(body).toMatchObject({ items: [{ parameters: { version: "4.20", workers: 3 } }] });
});

test("asking for the defaults by name is the same as not asking", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const name = await site.make();
  const answer = await site.call("POST /v1/leases", ask({ version: "4.20" }));
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ claims: [{ resource: name }] });
});

test("a request cannot be changed: the same id with other parameters is refused (I6)", async () => {
  await using site = await clusterSite();
  const first = await site.call("POST /v1/leases", ask({ workers: 3 }, { requestId: "run-1" }));
  const again = await site.call("POST /v1/leases", ask({ workers: 3 }, { requestId: "run-1" }));
  expect(asRequest(again).id).toBe(asRequest(first).id);
  const other = await site.call("POST /v1/leases", ask({ workers: 4 }, { requestId: "run-1" }));
  expect([other.status, asProblem(other).code]).toEqual([409, "request_id_reused"]);
});

test("resolveParameters() keeps the pool's own where nothing else is asked", () => {
  const asked = { pool: "ocp", template: ocpAws, defaults: { version: "4.19" } };
  expect(resolveParameters({ ...asked, parameters: {} })).toEqual({ version: "4.19" });
  expect(resolveParameters({ ...asked, parameters: { version: "4.20", fips: true } })).toEqual({
    version: "4.20",
    fips: true,
  });
});

test("resolveParameters() takes a fraction that is written as a text, as command lines send it", () => {
  const numbers = { ratio: { type: "number", maximum: 1 }, version: { enum: [4.19, 4.2] } };
  const template = { ...ocpAws, parameters: { ...numbers, text: { type: "string" } } };
  const asked = { pool: "ocp", template, defaults: {} };
  const given = { ratio: "0.5", version: "4.19", text: "0.5" };
  const want = { ratio: 0.5, version: 4.19, text: "0.5" };
  expect(resolveParameters({ ...asked, parameters: given })).toEqual(want);
  for (const wrong of [{ version: "4.20" }, { ratio: "1.5" }, { ratio: "0.50" }, { ratio: "1" }]) {
    expect(() => resolveParameters({ ...asked, parameters: wrong })).toThrow(/Cannot set/);
  }
});

test("items that take any of several pools must mean the same cluster", async () => {
  const one = clusterPool("east", { parameters: { version: "4.20" } });
  const other = clusterPool("west", { parameters: { version: "4.19" } });
  await using site = await clusterSite([one, other]);
  const items = (parameters?: object) => [{ anyOf: ["east", "west"], ...parameters }];
  const call = (parameters?: object) =>
    site.call("POST /v1/leases", { body: { holder: "j", items: items(parameters) } });
  expect((await call({ parameters: { workers: 2 } })).status).toBe(422);
  expect((await call({ parameters: { workers: 2, version: "4.20" } })).status).toBe(202);
  expect((await call()).status).toBe(202);
});
