/** Whatever comes in: the answer says what is wrong and what to do, and nothing has changed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../api/limits.ts";
import { pool } from "../core/decide/lending.suite.ts";
import {
  type Answer,
  askBody,
  asLease,
  asProblem,
  type Call,
  routesOf,
  type TestSite,
  testSite,
} from "./test-site.suite.ts";

let site: TestSite;
let lease: ReturnType<typeof asLease>;
let before: string;

beforeAll(async () => {
  site = await testSite([pool("aws", 2)]);
  lease = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  before = await site.state();
});
afterAll(() => site[Symbol.asyncDispose]());

async function expectRefusal(answer: Answer, status: number, code: string): Promise<void> {
  expect({ text: answer.text, status: answer.status }).toMatchObject({ status });
  expect(answer.type).toBe("application/problem+json");
  const problem = asProblem(answer);
  expect(problem).toMatchObject({ code, status, type: `/docs/errors#${code}` });
  expect(problem.detail).toMatch(/^Cannot .*[^.]$/s);
  expect(problem.hint).not.toBe("");
  expect(await site.state()).toBe(before);
}

const good = askBody("aws");
const invalid = "invalid_request";
const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("POST /v1/leases refuses a body that", () => {
  const bodies: Record<string, [unknown, string, number?]> = {
    "is not JSON": ['{"items": [', "invalid_json"],
    "is JavaScript": ["{items: 1}", "invalid_json"],
    "has NaN in it": ['{"holder": "x", "items": [{"pool": "aws", "count": NaN}]}', "invalid_json"],
    "is not UTF-8": [
      Buffer.concat([
        Buffer.from('{"holder":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('","items":[{"pool":"aws"}]}'),
      ]),
      "invalid_json",
    ],
    "is cut in the middle of a letter": [
      Buffer.from('{"holder":"é').subarray(0, -1),
      "invalid_json",
    ],
    "is empty": ["", invalid],
    "is null": ["null", invalid],
    "is a number": ["7", invalid],
    "is a text": ['"aws"', invalid],
    "is a list": ["[]", invalid],
    "is an empty object": [{}, invalid],
    "has no items": [{ holder: "x" }, invalid],
    "has no holder": [{ items: [{ pool: "aws" }] }, invalid],
    "has an empty list of items": [{ ...good, items: [] }, invalid],
    "has too many items": [{ ...good, items: Array(17).fill({ pool: "aws" }) }, invalid],
    "has items that are no objects": [{ ...good, items: ["aws"] }, invalid],
    "has an item without a pool": [{ ...good, items: [{ count: 1 }] }, invalid],
    "has an unknown field": [{ ...good, colour: "red" }, invalid],
    "has an unknown field in an item": [{ ...good, items: [{ pool: "aws", amount: 3 }] }, invalid],
    "has __proto__ in it": [
      '{"__proto__": {}, "holder": "x", "items": [{"pool": "aws"}]}',
      invalid,
    ],
    "has constructor in it": [
      '{"constructor": 1, "holder": "x", "items": [{"pool": "aws"}]}',
      invalid,
    ],
    "has __proto__ in its labels": [
      '{"labels": {"__proto__": "x"}, "holder": "x", "items": [{"pool": "aws"}]}',
      invalid,
    ],
    "has an empty holder": [{ ...good, holder: "" }, invalid],
    "has a huge holder": [{ ...good, holder: "x".repeat(257) }, invalid],
    "has a holder that is a number": [{ ...good, holder: 7 }, invalid],
    "has a holder that is null": [{ ...good, holder: null }, invalid],
    "has an empty pool": [{ ...good, items: [{ pool: "" }] }, invalid],
    "has a count of 0": [askBody("aws:0"), invalid],
    "has a negative count": [askBody("aws:-1"), invalid],
    "has half a count": [askBody("aws:1.5"), invalid],
    "has a huge count": [askBody("aws:1001"), invalid],
    "has a count beyond numbers": [
      '{"holder":"x","items":[{"pool":"aws","count":1e999}]}',
      invalid,
    ],
    "has a count as text": [{ ...good, items: [{ pool: "aws", count: "1" }] }, invalid],
    "has a duration without a unit": [{ ...good, ttl: "30" }, invalid],
    "has a duration that is a number": [{ ...good, ttl: 30 }, invalid],
    "has a negative duration": [{ ...good, ttl: "-5s" }, invalid],
    "has an empty duration": [{ ...good, ttl: "" }, invalid],
    "has a ttl that is too short": [{ ...good, ttl: "1ms" }, invalid],
    "has a ttl of nothing": [{ ...good, ttl: "0" }, invalid],
    "has a ttl that is too long": [{ ...good, ttl: "25h" }, invalid],
    "has an absurd ttl": [{ ...good, ttl: "9999999999999999999999999999999d" }, invalid],
    "has an absurd lifetime": [{ ...good, lifetime: "1000d" }, invalid],
    "has a wait that is too long": [{ ...good, wait: "2h" }, invalid],
    "has a duration longer than any": [{ ...good, wait: "1s".repeat(100) }, invalid],
    "has a requestId with a space": [{ ...good, requestId: "a b" }, invalid],
    "has an empty requestId": [{ ...good, requestId: "" }, invalid],
    "has a huge requestId": [{ ...good, requestId: "x".repeat(129) }, invalid],
    "has a requestId of a number": [{ ...good, requestId: 5 }, invalid],
    "has a priority out of range": [{ ...good, priority: 1_001 }, invalid],
    "has half a priority": [{ ...good, priority: 0.5 }, invalid],
    "has labels that are no texts": [{ ...good, labels: { a: 1 } }, invalid],
    "has labels that are a list": [{ ...good, labels: ["a"] }, invalid],
    "has too many labels": [
      { ...good, labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ""])) },
      invalid,
    ],
    "has a label with an odd name": [{ ...good, labels: { "-a": "x" } }, invalid],
    "has a label with a huge name": [{ ...good, labels: { ["a".repeat(1_000)]: "x" } }, invalid],
    "has a label with a huge value": [{ ...good, labels: { a: "x".repeat(257) } }, invalid],
    "is deeply nested": [`{"holder":"x","items":${deep(5_000)}}`, invalid],
    "is as deeply nested as fits": [`{"holder":"x","items":${deep(30_000)}}`, invalid],
    "is deeply nested all over": [deep(32_000), invalid],
    "is larger than the limit": [
      { ...good, holder: "x".repeat(limits.bodyBytesMax) },
      "body_too_large",
      413,
    ],
    "asks for what is not there": [askBody("gcp"), "pool_not_found", 404],
  };

  test.each(Object.entries(bodies))("%s", async (_, [body, code, status = 400]) => {
    await expectRefusal(await site.call("POST /v1/leases", { body }), status, code);
  });
});

describe("POST /v1/leases refuses", () => {
  const text = JSON.stringify(good);
  const calls: Record<string, [Call, string, number]> = {
    "another content type": [
      { body: text, headers: { "content-type": "text/plain" } },
      "unsupported_media_type",
      415,
    ],
    "a form": [
      { body: "holder=x", headers: { "content-type": "application/x-www-form-urlencoded" } },
      "unsupported_media_type",
      415,
    ],
    "a content type that is none": [
      { body: text, headers: { "content-type": "nonsense" } },
      "unsupported_media_type",
      415,
    ],
    "no body at all": [{}, invalid, 400],
  };

  test.each(Object.entries(calls))("%s", async (_, [call, code, status]) => {
    await expectRefusal(await site.call("POST /v1/leases", call), status, code);
  });

  test("and names the place, the value and the way out", async () => {
    const body = { ...good, ttl: "30", priorty: 5, items: [{ pool: "aws", count: "x" }] };
    const problem = asProblem(await site.call("POST /v1/leases", { body }));
    expect(problem["errors"]).toEqual(
      expect.arrayContaining([
        { place: "body", message: 'there is no field "priorty"' },
        { place: "body.ttl", message: '"30" is not a duration' },
        { place: "body.items[0].count", message: '"x" is not an integer' },
      ]),
    );
  });

  test.each([
    ["a misspelt field", { ...good, priorty: 1 }, 'Did you mean "priority"?'],
    ["a duration", { ...good, ttl: "30" }, "Write it like 90s, 20m, 1h30m or 2d"],
    ["a duration out of range", { ...good, ttl: "9d" }, "Give a duration between 1s and 1d"],
  ])("and has a hint for %s", async (_, body, hint) => {
    expect(asProblem(await site.call("POST /v1/leases", { body })).hint).toBe(hint);
  });
});

describe("nonsense elsewhere is refused:", () => {
  const nonsense: [string, number, string, Call?][] = [
    ["GET /v1", 404, "not_found"],
    ["GET /v1/leases/", 404, "lease_not_found"],
    ["GET /v1/leases/%2e%2e%2fpasswd", 404, "lease_not_found"],
    ["GET /v1/leases/__proto__", 404, "lease_not_found"],
    ["GET /v1/requests/constructor", 404, "request_not_found"],
    ["GET /v1/pools/__proto__", 404, "pool_not_found"],
    ["GET /v1/resources/%00", 404, "resource_not_found"],
    ["GET /v1/resources/%F0%9F%92%A9", 404, "resource_not_found"],
    ["GET /v1/leases/%zz", 400, invalid],
    ["GET /%", 400, invalid],
    ["GET /v1/leases/%E0%A4%A", 400, invalid],
    [`GET /v1/leases/${"a".repeat(300)}`, 414, invalid],
    [`GET /v1/resources/${"a".repeat(300)}`, 414, invalid],
    ["PUT /v1/leases", 404, "not_found"],
    ["PATCH /v1/leases", 404, "not_found"],
    ["DELETE /v1/leases", 404, "not_found"],
    ["OPTIONS /v1/leases", 404, "not_found"],
    ["GET /v1/leases?colour=red", 400, invalid],
    ["GET /v1/leases?pool=a&pool=b", 400, invalid],
    ["GET /v1/requests?limit=1e3", 400, invalid],
    ["GET /v1/pools?pool=aws", 400, invalid],
    [`GET /v1/resources?state=${"x".repeat(300)}`, 400, invalid],
    ["GET /v1/requests/x?wait=forever", 400, invalid],
    ["GET /v1/requests/x?wait=2h", 400, invalid],
    ["GET /v1/requests/x?wait=-1s", 400, invalid],
    ["GET /v1/requests/x?wait=1s&wait=2s", 400, invalid],
    ["GET /v1/events?after=-1", 400, invalid],
    ["GET /v1/events?after=99999999999999999999", 400, invalid],
    ["GET /v1/events", 400, invalid, { headers: { "last-event-id": "abc" } }],
    ["GET /v1/events", 400, invalid, { headers: { "last-event-id": "1e5" } }],
    ["DELETE /v1/requests/x?force=false", 400, invalid],
    ["DELETE /v1/requests/x?force=true&colour=red", 400, invalid],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: {} }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { drained: "true" } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { drained: null } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { name: "other" } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { state: "" } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { state: "a b" } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { state: "x".repeat(65) } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { labels: { a: 1 } } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { labels: { "": "x" } } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { labels: { ["k".repeat(1_000)]: "x" } } }],
    [
      "PATCH /v1/resources/aws-2",
      400,
      invalid,
      { body: { userData: { ["k".repeat(1_000)]: "x" } } },
    ],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { userData: { a: "x".repeat(16_385) } } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { userData: "text" } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { note: "x".repeat(16_385) } }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: { drained: true, by: "" } }],
    ["PATCH /v1/resources/aws-2", 400, "invalid_json", { body: "{" }],
    ["PATCH /v1/resources/aws-2", 400, invalid, { body: [{ drained: true }] }],
    ["PATCH /v1/resources/aws-2", 400, invalid],
  ];

  test.each(nonsense)("%s", async (line, status, code, call) => {
    await expectRefusal(await site.call(line, call), status, code);
  });

  test("a parameter that no call of the API has", async () => {
    const routes = routesOf(site.app.printRoutes({ commonPrefix: false }));
    const own = routes.filter((route) => / \/v1\//.test(route));
    expect(own.length).toBeGreaterThan(30);
    for (const route of own) {
      const line = `${route.replaceAll(/\{\w+\}/g, lease.id)}?wiat=5s`;
      const body = route.startsWith("GET") ? undefined : { body: good };
      const answer = await site.call(line, { token: lease.token, ...body });
      expect({ line, text: answer.text }).toMatchObject({
        text: expect.stringMatching(/there is no (?:field|parameter) \\"wiat|Cannot read body/),
      });
      expect(answer.status).toBe(400);
    }
    const wait = await site.call("POST /v1/leases?wait=5s", { body: good });
    await expectRefusal(wait, 400, invalid);
  });

  test("the state of a release", async () => {
    for (const state of ["", "a b", "-x", "x".repeat(65), "%00"]) {
      for (const path of [`/v1/leases/${lease.id}`, `/v1/leases/${lease.id}/claims/1`]) {
        const answer = await site.call(`DELETE ${path}?state=${state.replace(" ", "%20")}`, {
          token: lease.token,
        });
        await expectRefusal(answer, 400, invalid);
      }
    }
  });

  test("an odd token", async () => {
    const heartbeat = `POST /v1/leases/${lease.id}/heartbeat`;
    for (const token of ["\u00e9", "x".repeat(5_000), `${lease.token}=`, "..", "null"]) {
      await expectRefusal(await site.call(heartbeat, { token }), 403, "token_wrong");
    }
  });
});
