/** Calls of the other systems' clients, and calls of the native API with odd methods and queries. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkState } from "../../sim/invariants.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { capacityPool } from "../core/shared/capacity.suite.ts";
import { routesOf, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;
beforeAll(async () => {
  const hypervisors = capacityPool({ "hv-1": { capacity: { vcpus: 64, memory: 640 } } });
  site = await testSite([pool("aws", 6), pool("gcp", 2), hypervisors]);
});
afterAll(() => site[Symbol.asyncDispose]());

const word = fc.oneof(
  fc.constantFrom("aws", "gcp", "vsphere", "aws-1", "aws-2", "hv-1", "o", "free", "busy", "dirty"),
  fc.constantFrom("cooling", "drained", "revoking", "quarantined", "toBeDeleted", "0s", "1", "-1"),
  fc.constantFrom("", "\u0000", "\ud800", "\u009b", "__proto__", "1e999", "aws-1,aws-2", "%", ";"),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const parameter = fc.constantFrom(
  ...["type", "state", "dest", "owner", "name", "names", "expire", "request_id", "lease"],
  ...["count", "timeout", "after", "limit", "q", "pool", "force", "by", "reason", "names", "since"],
);
/** Percent-encoded byte by byte, as half a character cannot be encoded otherwise. */
const encoded = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const query = fc
  .array(fc.tuple(parameter, word), { maxLength: 7 })
  .map((pairs) => pairs.map(([key, value]) => `${key}=${encoded(value)}`).join("&"));

/** Every route, with its own method or another one, and any name where the path has one. */
const linesOf = (routes: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...routes), fc.option(method), word)
    .map(([route, other, name]) => {
      const [own = "", path = ""] = route.split(" ");
      return { verb: other ?? own, path: path.replaceAll(/\{\w+\}|\*/g, encoded(name)) };
    })
    // A feed never ends.
    .filter(({ verb, path }) => path !== "/v1/events" || verb !== "GET");
const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
const nested = fc.integer({ min: 1, max: 15_000 }).map((depth) => {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
});
const body = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.dictionary(parameter, word, { maxKeys: 4 }).map((value) => JSON.stringify(value)),
  fc.array(word, { maxLength: 4 }).map((names) => JSON.stringify({ names })),
  fc
    .record({ vcpus: fc.oneof(fc.integer(), word), memory: fc.integer() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
  nested,
  nested.map((value) => `{"names":${value},"userData":${value},"items":${value}}`),
  fc.string({ unit: "binary", maxLength: 100 }),
);

/** The calls that the original answers with 500, although nothing is wrong with the server. */
const own500 = /^(?:error acquiring lease: |Failed to )/;

test("no call of any edge is answered as a bug or hangs, and the state stays sound", async () => {
  const routes = routesOf(site.app.printRoutes({ commonPrefix: false }));
  await fc.assert(
    fc.asyncProperty(linesOf(routes), query, body, async ({ verb, path }, asked, payload) => {
      // A lease proxy client waits for two hours unless it says otherwise.
      const search = path === "/lease/acquire" ? `timeout=0s&${asked}` : asked;
      const sends = payload !== undefined && verb !== "GET" && verb !== "HEAD";
      const line = `${verb} ${path}${search === "" ? "" : `?${search}`}`;
      const answer = await site.call(line, sends ? { body: payload } : {});
      if (answer.status >= 500) expect(answer.text, line).toMatch(own500);
      await site.broker.read(checkState);
      await site.clock.advance(10);
    }),
    { numRuns: 2_000 },
  );
  expect(site.log()).not.toContain("a bug");
});
