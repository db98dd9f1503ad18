/** The early capacity API over real sockets, number for number. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PoolSpec } from "../../core/model/policy.ts";
import { capacityPool, type MemberText, seedPools } from "../../core/shared/capacity.suite.ts";
import { type TestSite, testSite } from "../test-site.suite.ts";
import { goTime } from "./go-time.ts";

let site: TestSite;
let address: string;

async function open(pool: PoolSpec): Promise<void> {
  site = await testSite([pool]);
  address = await site.listen();
}

afterEach(() => site[Symbol.asyncDispose]());

async function post(path: string, body: unknown) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${address}${path}`, { method: "POST", body: text });
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    text: await response.text(),
  };
}

interface LeaseJson {
  readonly status: { readonly pool: string; readonly "port-groups"?: { name: string }[] };
  readonly metadata: { readonly name: string };
}

async function acquire(body: object): Promise<string[] | string> {
  const { status, text } = await post("/acquire", body);
  if (status !== 200) return `${status} ${text}`;
  return (JSON.parse(text) as LeaseJson[]).map((lease) => lease.status.pool);
}

interface PoolJson {
  readonly status: Readonly<Record<string, number>> & { leases: unknown[] | null };
}

async function usages(): Promise<string[]> {
  const response = await fetch(`${address}/show-pools`);
  const pools = (await response.json()) as PoolJson[];
  return pools.map(({ status }) => {
    return `${status["vcpus-usage"]}/${status["memory-usage"]}/${status["datastore-usage"]}`;
  });
}

const noPools = "500 error acquiring lease: no pools with enough resources\n";
const noVcenters =
  "500 error acquiring lease: required number of vCenters exceeds the number of fitting pools\n";
const seed = { vcpus: 24, memory: 96, storage: 700, vcenters: 1 };

describe("the worked example", () => {
  beforeEach(() => open(seedPools()));

  test("nine requests, number for number", async () => {
    const granted: unknown[] = [];
    for (let number = 1; number <= 4; number++) granted.push(await acquire(seed));
    expect(await usages()).toEqual(["0.4/0.12/0.14", "0.4/0.12/0.14", "0.6/0.16/0.7"]);
    for (let number = 5; number <= 9; number++) granted.push(await acquire(seed));
    const order = ["pool1", "pool2", "pool3", "pool1", "pool1", "pool2", "pool1", "pool1"];
    expect(granted).toEqual([...order.map((pool) => [pool]), noPools]);
    expect((await usages())[0]).toBe("1/0.3/0.35");
    expect(await acquire({ ...seed, vcpus: 12 })).toEqual(["pool2"]);
    expect(await acquire({ ...seed, vcpus: 12, storage: 300 })).toEqual(["pool3"]);
    expect(await acquire({ ...seed, vcpus: 12, storage: 300 })).toBe(noPools);
  });

  test("several vCenters, all or nothing", async () => {
    const two = { ...seed, vcenters: 2 };
    expect(await acquire(two)).toEqual(["pool1", "pool2"]);
    expect(await acquire(two)).toEqual(["pool3", "pool1"]);
    expect(await acquire(two)).toEqual(["pool1", "pool2"]);
    const before = await usages();
    expect(await acquire(two)).toBe(noVcenters);
    expect(await usages()).toEqual(before);
    expect(await acquire({ ...seed, vcenters: 1 })).toEqual(["pool1"]);
    expect(await acquire({ ...seed, vcenters: 4 })).toBe(noVcenters);
    expect(await usages()).toEqual(["0.8/0.24/0.28", "0.8/0.24/0.28", "0.6/0.16/0.7"]);
  });

  test("other sizes", async () => {
    expect(await acquire({ ...seed, vcpus: 100 })).toEqual(["pool1"]);
    expect(await acquire({ ...seed, vcpus: 100 })).toBe(noPools);
    expect(await acquire({ vcpus: 50, memory: 800, storage: 100 })).toEqual(["pool2"]);
    expect(await acquire({ ...seed, vcenters: 4 })).toBe(noVcenters);
  });

  test("the texts of a lease and of a pool are those of the seed, and two more keys", async () => {
    const { text, type } = await post("/acquire", { ...seed, vcenters: 2 });
    expect(type).toMatch(/^application\/json/);
    const [first] = JSON.parse(text) as LeaseJson[];
    const name = first?.metadata.name ?? "";
    const at = goTime(site.clock.now(), site.clock.now());
    const lease =
      '{"spec":{"vcpus":24,"memory":96,"storage":700,"vcenters":0},' +
      '"status":{"resources":[{"spec":{"vcpus":24,"memory":96,"storage":700,"vcenters":2},' +
      '"status":{"vcpus":0,"memory":0,"storage":0,"pool":"","lease":""},' +
      `"metadata":{"creationTimestamp":null},"type":{}}],"leased-at":"${at}",` +
      '"boskos-lease-id":"","pool":"pool1"},' +
      `"metadata":{"name":"${name}","creationTimestamp":null},"type":{}}`;
    expect(text.startsWith(`[${lease},`)).toBe(true);
    const shown = await (await fetch(`${address}/show-pools`)).text();
    expect(
      shown.startsWith(
        '[{"spec":{"vcpus":120,"memory":1600,"storage":10000,"vcenters":0,"name":"pool1",' +
          '"vcenter":"vcenter1","datacenter":"","cluster":"","datastore":"","networks":null},' +
          `"status":{"vcpus-usage":0.2,"memory-usage":0.06,"datastore-usage":0.07,"leases":[${lease}],` +
          '"network-usage":0}},',
      ),
    ).toBe(true);
    expect(shown.endsWith('"leases":null,"network-usage":0}}]')).toBe(true);
  });

  test("deeply nested lists are no trouble, and lists in lists are lists", async () => {
    await acquire(seed);
    const before = await usages();
    const [lease] = JSON.parse((await post("/acquire", seed)).text) as LeaseJson[];
    const name = JSON.stringify({ name: lease?.metadata.name });
    const deep = `${"[".repeat(200_000)}${name}${"]".repeat(200_000)}`;
    expect(await post("/release", deep)).toMatchObject({ status: 200, text: "" });
    expect(await usages()).toEqual(before);
    expect(await post("/release", `[[${name}],{"name":"x"}]`)).toMatchObject({ status: 200 });
    expect(await post("/acquire", deep)).toMatchObject({ status: 400 });
  });

  test("a lease is given back as it was received, alone, in a list or by name; again is fine", async () => {
    const { text } = await post("/acquire", { ...seed, vcenters: 3 });
    const [one, two, three] = JSON.parse(text) as LeaseJson[];
    expect(await post("/release", one)).toMatchObject({ status: 200, text: "" });
    expect(await post("/release", [one, two])).toMatchObject({ status: 200, text: "" });
    expect(await post("/release", { name: three?.metadata.name })).toMatchObject({ status: 200 });
    expect(await post("/release", { name: "nobody" })).toMatchObject({ status: 200, text: "" });
    expect(await usages()).toEqual(["0/0/0", "0/0/0", "0/0/0"]);
  });

  test("what has a token is not given back without it", async () => {
    const body = { holder: "job", items: [{ pool: "vsphere", amount: { vcpus: 24 } }] };
    const { body: lease } = await site.call("POST /v1/leases", { body });
    const { id } = lease as { id: string };
    expect(await post("/release", { name: `${id}.1` })).toMatchObject({ status: 200 });
    expect((await usages())[0]).toBe("0.2/0/0");
  });

  test("a lease that nobody gives back is taken back after a day", async () => {
    await acquire(seed);
    await site.clock.advance(24 * 3_600_000 - 1);
    expect((await usages())[0]).toBe("0.2/0.06/0.07");
    await site.clock.advance(1);
    expect(await usages()).toEqual(["0/0/0", "0/0/0", "0/0/0"]);
  });
});

describe("what is read of a body", () => {
  beforeEach(() => open(seedPools()));

  test.each([
    ["keys in any case", '{"VCPUs":24,"Memory":96}', 200],
    ["an unknown key", '{"vcpus":1,"requiresPool":"x"}', 200],
    ["more after the first value", '{"vcpus":1} trailing {"a"', 200],
    ["the last of equal keys", '{"vcpus":999,"vcpus":1}', 200],
    ["nothing asked for", "{}", 200],
    ["no vCenters", '{"vcpus":1,"vcenters":0}', 200],
    ["a number as text", '{"vcpus":"24"}', 400],
    ["a fraction", '{"vcpus":1.5}', 400],
    ["less than nothing", '{"vcenters":-1}', 400],
    ["an array", "[]", 400],
    ["half a value", '{"vcpus":', 400],
    ["no JSON", "hello", 400],
  ])("%s", async (_, body, status) => {
    const answer = await post("/acquire", body);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer).toMatchObject({ type: "text/plain; charset=utf-8" });
    if (status === 400) expect(answer.text).toMatch(/^[^\n]+\n$/);
  });

  test("Boskos's calls are answered by Boskos", async () => {
    const answer = await post("/acquire?type=vsphere&state=free&dest=busy&owner=me", "{}");
    expect(answer.text).toMatch(/^Acquire failed/);
    expect((await post("/release?name=a", "{}")).text).toMatch(/^Name: a/);
    expect((await fetch(`${address}/acquire/`, { method: "POST" })).status).not.toBe(500);
  });
});

describe("port groups", () => {
  const member = (size: number, networks: string[], vcenter: string): MemberText => ({
    capacity: { vcpus: 24 * size, memory: 96 * size, storage: 720 * size },
    labels: { vcenter },
    parts: { networks },
  });
  const record = { gateway: "10.0.0.1", ipAddresses: ["10.0.0.0", "10.0.0.1"], cidr: 25 };
  const small = { vcpus: 24, memory: 96, storage: 720, networks: 1, vcenters: 1 };

  beforeEach(() =>
    open(
      capacityPool(
        { one: member(1, ["a1", "a2", "a3"], "vc1"), two: member(2, ["b1", "b2", "b3"], "vc2") },
        { placement: { strategy: "least-used", parts: { networks: { members: { a1: record } } } } },
      ),
    ),
  );

  test("come with the lease, with what is known of the subnet", async () => {
    const { text } = await post("/acquire", small);
    const [lease] = JSON.parse(text) as LeaseJson[];
    expect(lease?.status.pool).toBe("one");
    expect(lease?.status["port-groups"]).toEqual([{ name: "a1", ...record }]);
  });

  test("one in each of two vCenters; too large; too many vCenters, and nothing changes", async () => {
    expect(await acquire({ ...small, vcenters: 3 })).toBe(noVcenters);
    expect(await acquire({ vcpus: 96, memory: 384, storage: 2_880, networks: 24 })).toBe(noPools);
    expect(await usages()).toEqual(["0/0/0", "0/0/0"]);
    const { text } = await post("/acquire", { ...small, vcenters: 2 });
    const leases = JSON.parse(text) as LeaseJson[];
    expect(leases.map(({ status }) => status["port-groups"]?.[0]?.name)).toEqual(["a1", "b1"]);
    await post("/release", leases);
    expect(await usages()).toEqual(["0/0/0", "0/0/0"]);
    expect(await acquire({ ...small, networks: 3 })).toEqual(["one"]);
  });

  test("are one unless told, none where none is wanted, shared under one Boskos lease", async () => {
    const { text: first } = await post("/acquire", {
      vcpus: 1,
      "boskos-lease-id": "b",
      "required-pool": "two",
    });
    const { text: second } = await post("/acquire", {
      vcpus: 1,
      "boskos-lease-id": "b",
      "required-pool": "two",
    });
    const names = [first, second].map((text) =>
      (JSON.parse(text) as LeaseJson[])[0]?.status["port-groups"]?.map(({ name }) => name),
    );
    expect(names).toEqual([["b1"], ["b1"]]);
    expect(JSON.parse(first)[0].status["boskos-lease-id"]).toBe("b");
    const { text: none } = await post("/acquire", { vcpus: 1, networks: 0 });
    expect(JSON.parse(none)[0].status["port-groups"]).toBeUndefined();
  });
});

test.each([
  [0.5, "2024-05-01 10:00:00.5 +0000 UTC m=+12.500000000"],
  [0, "2024-05-01 10:00:00 +0000 UTC m=+12.000000000"],
  [-20, "2024-05-01 09:59:40 +0000 UTC m=-8.000000000"],
])("goTime() writes times as Go does: %s s later", (seconds, want) => {
  const start = Date.UTC(2024, 4, 1, 10);
  expect(goTime(start + seconds * 1_000, start - 12_000)).toBe(want);
});
