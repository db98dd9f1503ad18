/**
 * Operators drain, pin, keep, bump and end things of all spaces. A holder learns that it happened, but
 * of what is not its own neither who did it nor why: every call that reads is searched.
 */
import { expect, test } from "vitest";
import { tokenHash } from "../auth/static-tokens.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { clusterPool } from "../core/clusters/clusters.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { SpaceName } from "../core/model/ids.ts";
import { seedPools } from "../core/shared/capacity.suite.ts";
import { type ClusterSite, clusterSite } from "./clusters/clusters-site.suite.ts";
import { asLease, asRequest, routesOf } from "./test-site.suite.ts";

const annToken = "ann-of-ops-0123456789abcdef";
const ann = { name: "ann-of-ops", sha256: tokenHash(annToken), role: "operator" } as const;
const auth = { tokens: [...testAuth.tokens, { ...ann, space: "team" as SpaceName }] };
const why = { reason: "a-secret-plan", by: "ann-as-she-says" };
const operatorTexts = /ann-of-ops|a-secret-plan|ann-as-she-says/;
/** What only the space `team` may read. */
const teamTexts = /team-holder|team-branch/;

const pools = [
  ...[pool("aws", 1), pool("gcp", 1), seedPools()],
  pool("paced", 2, { pace: { everyMs: 1_000, burst: 1, jitter: 0 } }),
  clusterPool("ocp", { size: 2 }),
];

const searchOfReason = "/v1/search?q=a-secret-plan";

async function busySite(): Promise<ClusterSite & { readonly ids: readonly string[] }> {
  const site = await clusterSite(pools, auth, testTokens.worker);
  const operate = async (line: string, body?: object) => {
    const answer = await site.call(line, { token: annToken, ...(body && { body }) });
    expect([line, answer.status]).toEqual([line, expect.toSatisfy((status) => status < 300)]);
  };
  const ask = async (token: string, item: object, holder: string) => {
    const body = { holder, labels: { branch: `${holder}-branch` }, items: [item] };
    return site.call("POST /v1/leases", { token, body });
  };
  const held = asLease(await ask(testTokens.holder, { pool: "gcp" }, "team-holder"));
  // As `berth drain` does: the reason is the note as well. A later note is of a drained resource too.
  await operate("PATCH /v1/resources/aws-1", { drained: true, note: why.reason, ...why });
  await operate("PATCH /v1/resources/aws-1", { note: `${why.reason}, part two`, ...why });
  for (const name of ["pool1", "pool2", "pool3"]) {
    await operate(`PATCH /v1/resources/${name}`, { drained: true, ...why });
  }
  await operate("PUT /v1/pools/paced/pin", { rate: 2, ...why });
  const cluster = await site.make();
  await operate(`PATCH /v1/resources/${cluster}`, { drained: true, note: why.reason, ...why });
  await operate(`PUT /v1/clusters/${cluster}/hold`, { for: "5m", ...why });
  const wants = [
    ...[{ pool: "aws" }, { pool: "aws", resource: "aws-1" }, { pool: "gcp" }],
    { pool: "vsphere", amount: { vcpus: 10 } },
  ];
  const ids: string[] = [];
  for (const item of wants) {
    ids.push(asRequest(await ask(testTokens.holder, item, "team-holder")).id);
    ids.push(asRequest(await ask(otherToken, item, "other-holder")).id);
  }
  await operate(`PUT /v1/requests/${ids[0]}/priority`, { priority: 5, ...why });
  await operate(`DELETE /v1/leases/${held.id}?force=true&by=${why.by}&reason=${why.reason}`);
  return Object.assign(site, { ids: [...ids, held.id] });
}

/** All that the caller can read, by call. The feed has the events of `/v1/events/past`. */
async function readAll(site: Awaited<ReturnType<typeof busySite>>, token: string) {
  const lines = routesOf(site.app.printRoutes({ commonPrefix: false })).filter((line) => {
    return line.startsWith("GET /v1/") && !/audit|\/v1\/events$|sign-in|session/.test(line);
  });
  const names = [
    ...["aws", "paced", "vsphere", "ocp", "aws-1", "pool1", "ocp-1", "ocp-2", "ocp-aws"],
    ...site.ids,
  ];
  const calls = lines.flatMap((line) => {
    if (!line.includes("{")) return [line];
    return names.map((name) => line.replace(/\{(id|name)\}/, name).replace("{claim}", "1"));
  });
  const more = ["aws-1", "ocp-1"].map((name) => `GET /v1/events/past?resource=${name}`);
  const searches = [
    "GET /v1/search?q=a",
    `GET ${searchOfReason}`,
    "GET /metric?type=gcp",
    "GET /show-pools",
  ];
  const found = new Map<string, string>();
  for (const call of [...calls, ...more, ...searches]) {
    found.set(call, (await site.call(call, { token })).text);
  }
  return found;
}

const matching = (found: ReadonlyMap<string, string>, texts: RegExp) =>
  [...found].filter(([, text]) => texts.test(text)).map(([call]) => call);

test("a holder of another space reads no operator's name, no reason and no other holder", async () => {
  await using site = await busySite();
  const read = await readAll(site, otherToken);
  expect(matching(read, operatorTexts)).toEqual([]);
  expect(matching(read, teamTexts)).toEqual([]);
  expect(read.get(`GET ${searchOfReason}`)).toContain('"items":[]');
  const waits = read.get("GET /v1/requests") ?? "";
  expect(waits).toContain("None of 1 aws can be lent (1 drained): aws-1 is drained;");
  expect(waits).toContain("aws-1 is drained;");
  expect(waits).toContain("pool1 is drained, pool2 is drained, 1 more");
  expect(read.get("GET /v1/pools/paced")).toContain('"pinned":{"rate":2,"by":"","why":""');
});

test("the space that is concerned reads who did something to its own requests and leases", async () => {
  await using site = await busySite();
  const read = await readAll(site, testTokens.holder);
  const own = matching(read, operatorTexts);
  expect(own).not.toEqual([]);
  for (const call of own) expect(call).toMatch(/leases|requests|explain|history|events/);
  for (const call of ["GET /v1/requests", `GET /v1/explain/${site.ids[0]}`]) {
    expect([call, read.get(call)]).toEqual([call, expect.not.stringMatching(operatorTexts)]);
  }
});

test("operators read the name and the reason", async () => {
  await using site = await busySite();
  const read = await readAll(site, annToken);
  const told = [
    ...["GET /v1/requests", "GET /v1/pools", "GET /v1/pool-changes", "GET /v1/clusters"],
    ...["GET /v1/resources", "GET /v1/resources/aws-1"],
    ...["GET /v1/pools/paced/limit-history", "GET /v1/pools/ocp/plan", "GET /v1/events/past"],
    ...site.ids.slice(0, 4).flatMap((id) => [`GET /v1/explain/${id}`, `GET /v1/requests/${id}`]),
  ];
  expect(matching(read, operatorTexts)).toEqual(expect.arrayContaining(told));
  expect(read.get(`GET ${searchOfReason}`)).toContain('"name":"aws-1"');
});

test("the reason of a drain is no note that others read once it is undrained", async () => {
  await using site = await busySite();
  const undrain = { token: annToken, body: { drained: false } };
  const notes = async (token: string) => {
    const { text } = await site.call("GET /v1/resources/aws-1", { token });
    return [JSON.parse(text).drained, JSON.parse(text).note];
  };
  expect(await notes(annToken)).toEqual([true, "a-secret-plan, part two"]);
  const again = { drained: true, note: "another-secret", reason: "another-secret" };
  await site.call("PATCH /v1/resources/aws-1", { token: annToken, body: again });
  expect(await notes(annToken)).toEqual([true, "another-secret"]);
  expect(await notes(otherToken)).toEqual([true, ""]);
  await site.call("PATCH /v1/resources/aws-1", undrain);
  expect(await notes(otherToken)).toEqual([false, ""]);
  expect(await notes(annToken)).toEqual([false, ""]);
});

test("the reply to a request, and polling it with its token, name no operator", async () => {
  await using site = await busySite();
  const body = { holder: "b", items: [{ pool: "aws" }] };
  const asked = await site.call("POST /v1/leases", { token: otherToken, body });
  const { id, token } = asRequest(asked);
  const polled = await site.call(`GET /v1/requests/${id}`, { token });
  for (const { text } of [asked, polled]) {
    expect(text).toContain("aws-1 is drained");
    expect(text).not.toMatch(operatorTexts);
  }
});
