import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Attention } from "../../api/attention-schemas.ts";
import { otherToken, testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { change, pool } from "../../core/decide/lending.suite.ts";
import type { PoolName, SpaceName } from "../../core/model/ids.ts";
import { defaultSpacePolicy } from "../../core/model/space.ts";
import { TemplateReports } from "../clusters/template-reports.ts";
import type { Peers } from "../relay/peers.ts";
import { askBody, testSite } from "../test-site.suite.ts";
import { type Found, grouped, poolsIn } from "./group.ts";
import { lackTroubles, replicaTroubles } from "./server-troubles.ts";
import { troubleWords } from "./words.ts";

const { holder, viewer, operator, worker } = testTokens;

test("the answer is empty if all is well", async () => {
  await using site = await testSite([pool("aws", 2)]);
  await site.call("POST /v1/leases", { body: askBody("aws") });
  expect((await site.call("GET /v1/attention")).body).toEqual({ items: [], pools: [] });
});

test("one line for each kind, with the oldest first and what to do", async () => {
  await using site = await testSite([pool("aws", 3)]);
  await site.broker.submit(change("aws-2", { state: "quarantined", note: "it failed" }));
  await site.clock.advance(5_000);
  await site.broker.submit(change("aws-1", { state: "quarantined", note: "it failed too" }));
  const { items, pools } = (await site.call("GET /v1/attention")).body as Attention;
  expect(pools).toEqual([{ name: "aws", codes: ["quarantined"] }]);
  expect(items).toMatchObject([
    {
      ...{ code: "quarantined", severity: "warning", summary: "2 resources are quarantined" },
      advice: expect.stringContaining("then free the resource"),
      command: "berth resources --state quarantined",
      count: 2,
      about: [
        { kind: "resource", name: "aws-2", text: "it failed" },
        { kind: "resource", name: "aws-1", text: "it failed too" },
      ],
    },
  ]);
  expect(items[0]?.since).toBe(items[0]?.about[0]?.since);
});

test("a space sees its own quota only, and only operators see tokens", async () => {
  // Half an hour after the clock of the test begins.
  const soonMs = 1_800_000;
  const soon = testAuth.tokens.map((token) =>
    token.name === "worker" ? { ...token, expiresAtMs: soonMs } : token,
  );
  await using site = await testSite([pool("aws", 4)], {}, undefined, { ...testAuth, tokens: soon });
  const policy = { ...defaultSpacePolicy, quotas: [{ pool: "aws" as PoolName, max: 1 }] };
  const spaces = { spaces: [{ name: "team" as SpaceName, policy }], others: defaultSpacePolicy };
  await site.broker.submit({ type: "configure", pools: [pool("aws", 4)], spaces });
  const ask = () =>
    site.call("POST /v1/leases", { token: holder, body: { ...askBody("aws"), ttl: "1h" } });
  await ask();
  await ask();
  await site.clock.advance(301_000);
  const seenBy = async (token: string) => {
    const { items, pools } = (await site.call("GET /v1/attention", { token })).body as Attention;
    const named = [{ name: "aws", codes: ["quota_reached_long"] }];
    expect(pools).toEqual(token === otherToken ? [] : named);
    return items.map(({ code }) => code);
  };
  expect(await seenBy(holder)).toEqual(["quota_reached_long"]);
  expect(await seenBy(otherToken)).toEqual([]);
  expect(await seenBy(viewer)).toEqual(["quota_reached_long"]);
  expect(await seenBy(operator)).toEqual(["quota_reached_long", "token_expires"]);
});

test("a hub that cannot be reached is for those who may see hubs", async () => {
  await using site = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const hubs = [{ name: "narwhal", labels: {} }];
  await site.broker.submit({ type: "configure", pools: [pool("aws", 1)], hubs });
  const body = { error: "connect ECONNREFUSED 10.1.2.3" };
  await site.call("PUT /v1/hubs/narwhal/probe", { token: worker, body });
  const seenBy = async (token: string) =>
    JSON.stringify((await site.call("GET /v1/attention", { token })).body);
  expect(await seenBy(holder)).not.toMatch(/narwhal|10\.1\.2\.3/);
  expect(await seenBy(viewer)).toContain("10.1.2.3");
});

test("grouped() puts errors first, names at most twenty, and counts all", () => {
  const one = (name: string) =>
    ({ code: "quarantined", kind: "resource", name, since: null, text: "" }) as const;
  const many = Array.from({ length: 25 }, (_, index) => one(`aws-${index}`));
  const refused = { ...one(""), code: "config_refused", kind: "server" } as const;
  const items = grouped([...many, refused]);
  expect(items.map(({ code, count }) => [code, count])).toEqual([
    ["config_refused", 1],
    ["quarantined", 25],
  ]);
  expect(items[1]?.about).toHaveLength(20);
});

test("poolsIn() has every pool with trouble, and nothing that is not of a pool", () => {
  const of = (pool: string | undefined, code: Found["code"]): Found => ({
    ...{ code, kind: "resource", name: "one", since: null, text: "" },
    ...(pool === undefined ? undefined : { pool }),
  });
  const many = Array.from({ length: 25 }, (_, index) => of(`aws-${index}`, "quarantined"));
  const found = [of(undefined, "config_refused"), ...many, of("aws-3", "waits_long")];
  const pools = poolsIn(found);
  expect(pools).toHaveLength(25);
  expect(pools).toContainEqual({ name: "aws-3", codes: ["quarantined", "waits_long"] });
  const late = { ...of("east", "waits_long"), limits: ["cloud"] };
  expect(poolsIn([late]).map(({ name }) => name)).toEqual(["cloud", "east"]);
});

test("the guide to the page lists every kind of trouble", () => {
  const guide = readFileSync(new URL("../../../docs/guides/page.md", import.meta.url), "utf8");
  const listed = [...guide.matchAll(/^\| `([a-z_]{2,})` \|/gm)].map(([, code]) => code);
  expect(listed).toEqual(Object.keys(troubleWords));
});

test("what the workers of the server lack is named, for those who may see everything", async () => {
  const why = "Cannot use the template ocp: the credential aws is missing";
  await using site = await testSite([pool("aws", 1)]);
  const { broker } = site;
  const templateReports = new TemplateReports();
  templateReports.put("provisioner", [{ name: "ocp", why }], broker.now());
  const troubles = () => ({
    fronts: [{ name: "tenants", why: "it refuses" }],
    takenFronts: [{ name: "others", why: "it is taken" }],
  });
  const found = lackTroubles({ broker, templateReports, troubles });
  expect(grouped(found)).toMatchObject([
    { code: "template_unusable", about: [{ kind: "template", name: "ocp", text: why }] },
    {
      code: "objects_not_served",
      about: [{ kind: "server", name: "tenants", text: "it refuses" }],
    },
    {
      code: "objects_of_another",
      about: [{ kind: "server", name: "others", text: "it is taken" }],
    },
  ]);
  expect(lackTroubles({ broker, templateReports: new TemplateReports() })).toEqual([]);
});

test("a server that was killed and started again at its address is no trouble", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const silent = { version: "1", seq: 1, silentMs: 60_000 };
  const known = [
    { ...silent, id: "killed", address: "http://a", startedAtMs: 1 },
    { ...silent, id: "again", address: "http://a", startedAtMs: 2, silentMs: 100 },
    { ...silent, id: "gone", address: "http://b", startedAtMs: 1 },
    { ...silent, id: "elsewhere", address: null, startedAtMs: 1 },
    { ...silent, id: "nowhere", address: null, startedAtMs: 2 },
  ];
  const peers = { standing: undefined, replicas: async () => known } as unknown as Peers;
  const found = await replicaTroubles({ peers, broker: site.broker });
  expect(found.map(({ code, name }) => [code, name])).toEqual([
    ["no_leader", ""],
    ["replica_behind", "gone"],
    ["replica_behind", "elsewhere"],
    ["replica_behind", "nowhere"],
  ]);
});

test("no advice names the command that shows it", () => {
  const commands: (string | undefined)[] = Object.values(troubleWords).map((words) =>
    "command" in words ? words.command : undefined,
  );
  expect(commands).not.toContain("berth status");
});
