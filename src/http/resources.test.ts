import { describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asLease, testSite } from "./test-site.suite.ts";

describe("GET /v1/resources", () => {
  test("lists all, or those of a pool or in a state as it is shown", async () => {
    await using site = await testSite([pool("aws", 2), pool("gcp", 2)]);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    await site.call("PATCH /v1/resources/gcp-1", { body: { drained: true } });
    const names = async (query: string) => {
      const { body } = await site.call(`GET /v1/resources${query}`);
      return (body as { items: { name: string }[] }).items.map(({ name }) => name);
    };
    expect(await names("")).toEqual(["aws-1", "aws-2", "gcp-1", "gcp-2"]);
    expect(await names("?pool=gcp")).toEqual(["gcp-1", "gcp-2"]);
    expect(await names("?state=free")).toEqual(["aws-2", "gcp-2"]);
    expect(await names("?state=drained")).toEqual(["gcp-1"]);
    expect(await names("?state=busy&pool=aws")).toEqual(["aws-1"]);
    expect(await names("?pool=nowhere")).toEqual([]);
    expect(await names("?names=gcp-2,aws-1,gcp-2,gone-1,")).toEqual(["aws-1", "gcp-2"]);
    expect(await names("?names=gcp-2,aws-1&pool=aws")).toEqual(["aws-1"]);
  });

  test("shows one, with who holds it", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    expect((await site.call("GET /v1/resources/aws-1")).body).toEqual({
      name: "aws-1",
      pool: "aws",
      state: "busy",
      drained: false,
      retiring: false,
      note: "",
      changedAt: "2023-11-14T22:13:20.000Z",
      restsUntil: null,
      dynamic: false,
      expiresAt: null,
      failures: 0,
      labels: {},
      userDataKeys: [],
      lease: {
        id,
        holder: "a job",
        since: "2023-11-14T22:13:20.000Z",
        endsAt: null,
        fence: 1_700_000_000_000_001,
      },
    });
  });

  test("tells when one is taken back at the latest: by its hold, or its lease's lifetime", async () => {
    const timed = { holdMs: 60_000, lifetimeMs: 120_000 };
    await using site = await testSite([
      pool("aws", 1, timed),
      pool("gcp", 1, { ...timed, holdMs: null }),
    ]);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    await site.call("POST /v1/leases", { body: askBody("gcp") });
    const endOf = async (name: string) => {
      const { body } = await site.call(`GET /v1/resources/${name}`);
      return (body as { lease: { endsAt: string } }).lease.endsAt;
    };
    expect(await endOf("aws-1")).toBe("2023-11-14T22:14:20.000Z");
    expect(await endOf("gcp-1")).toBe("2023-11-14T22:15:20.000Z");
  });

  test("tells until when one rests", async () => {
    await using site = await testSite([pool("aws", 1, { cooldownMs: 60_000 })]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.call(`DELETE /v1/leases/${id}`, { token });
    expect((await site.call("GET /v1/resources/aws-1")).body).toMatchObject({
      state: "cooling",
      restsUntil: "2023-11-14T22:14:20.000Z",
      lease: null,
    });
  });

  test("finds nothing that is not there", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const answer = await site.call("GET /v1/resources/aws-2");
    expect(answer).toMatchObject({
      status: 404,
      body: {
        code: "resource_not_found",
        detail: 'Cannot find resource "aws-2"',
        hint: 'Did you mean "aws-1"?',
        resource: "aws-2",
        nearest: "aws-1",
      },
    });
  });
});

describe("PATCH /v1/resources/{name}", () => {
  test("drains, and answers with the resource as it is now", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const answer = await site.call("PATCH /v1/resources/aws-1", {
      body: { drained: true, by: "ann", reason: "being rebuilt" },
    });
    const drainedBy = { by: "ann", why: "being rebuilt" };
    expect(answer).toMatchObject({
      status: 200,
      body: { state: "drained", drained: true, drainedBy },
    });
    expect(site.journal.appends.flat().at(-1)).toMatchObject({
      reason: { by: "ann", why: "being rebuilt" },
    });
  });

  test("merges labels and user data, whose values it never shows", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const patch = (body: object) => site.call("PATCH /v1/resources/aws-1", { body });
    await patch({ labels: { a: "1", b: "2" }, userData: { key: "s3cret", id: "7" } });
    const answer = await patch({ labels: { a: null, c: "3" }, userData: { id: null } });
    expect(answer.body).toMatchObject({ labels: { b: "2", c: "3" }, userDataKeys: ["key"] });
    expect(answer.text).not.toContain("s3cret");
  });

  test("quarantines with a note, and frees again", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const patch = (body: object) => site.call("PATCH /v1/resources/aws-1", { body });
    expect((await patch({ state: "quarantined", note: "broken" })).body).toMatchObject({
      state: "quarantined",
      note: "broken",
    });
    expect((await patch({ state: "free" })).body).toMatchObject({ state: "free", note: "" });
  });

  test.each([
    ["resource_not_found", 404, "nothing", { drained: true }, {}],
    ["resource_held", 409, "aws-1", { state: "free" }, {}],
    ["state_reserved", 422, "aws-2", { state: "busy" }, {}],
    ["operators_only", 403, "aws-2", { drained: true }, { from: "10.0.0.1" }],
  ])("refuses with %s", async (code, status, name, body, more) => {
    await using site = await testSite([pool("aws", 2)]);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    const before = await site.state();
    const answer = await site.call(`PATCH /v1/resources/${name}`, { body, ...more });
    expect(answer).toMatchObject({ type: "application/problem+json", body: { code } });
    expect(answer.status).toBe(status);
    expect(await site.state()).toBe(before);
  });

  test("bounds what a resource can carry, however many calls bring it", async () => {
    await using site = await testSite([pool("aws", 1)]);
    let last = 200;
    for (let number = 0; number < 100 && last === 200; number++) {
      const body = { userData: { [`key-${number}`]: "x" } };
      last = (await site.call("PATCH /v1/resources/aws-1", { body })).status;
    }
    expect(last).toBeGreaterThanOrEqual(400);
    expect(last).toBeLessThan(500);
  });
});
