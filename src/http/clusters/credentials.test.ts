/** Credentials that spaces bring (B1 to B3): used by their own clusters alone, and never shown. */
import { describe, expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { asLease, asProblem, asRequest } from "../test-site.suite.ts";
import { clusterSite } from "./clusters-site.suite.ts";

const byo = [clusterPool("byo", { template: "byo-aws" })];
const values = {
  AWS_ACCESS_KEY_ID: "AKIAI44QH8DHBEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "je7MtGbClwBF2Zp9",
};
const site = () => clusterSite(byo, testAuth, testTokens.worker);
const ask = (token: string, more: object = {}) => ({
  token,
  body: { holder: "a job", items: [{ pool: "byo", ...more }] },
});

test("credentials are stored, listed without values, replaced and deleted", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  const put = await berth.look("PUT /v1/credentials/aws", { token, body: { values } });
  expect(put.body).toMatchObject({ name: "aws", space: "team", version: 1, clusters: [] });
  await berth.look("PUT /v1/credentials/aws", { token, body: { values } });
  const { body } = await berth.look("GET /v1/credentials", { token });
  expect(body).toMatchObject({
    items: [{ version: 2, keys: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] }],
  });
  expect((await berth.look("GET /v1/credentials", { token: otherToken })).body).toMatchObject({
    items: [],
  });
  expect((await berth.look("DELETE /v1/credentials/aws", { token: otherToken })).status).toBe(404);
  expect((await berth.look("DELETE /v1/credentials/aws", { token })).status).toBe(204);
  expect((await berth.look("DELETE /v1/credentials/aws", { token })).status).toBe(404);
  const seen = berth.looked.map(({ text }) => text).join() + berth.log();
  for (const value of Object.values(values)) expect(seen).not.toContain(value);
});

test("wrong bodies are refused, and no message repeats a value", async () => {
  await using berth = await site();
  const secret = "top-secret-value";
  const bodies = [
    {},
    { values: {} },
    { values: { "1BAD": secret } },
    { values: { KEY: { nested: secret } } },
    { values: { KEY: "" } },
    { values: [secret] },
    { values: { KEY: secret }, more: secret },
    `{"values": {"KEY": "${secret}"`,
  ];
  for (const body of bodies) {
    const answer = await berth.look("PUT /v1/credentials/aws", { token: testTokens.holder, body });
    expect(answer.status, JSON.stringify(body)).toBe(400);
    expect(answer.text).not.toContain(secret);
  }
});

describe("a request for clusters with own credentials", () => {
  test("is refused before anything is reserved if the space has none (B1), or names others' (B3)", async () => {
    await using berth = await site();
    await berth.call("PUT /v1/credentials/aws", { token: testTokens.holder, body: { values } });
    const before = await berth.state();
    const answer = await berth.call("POST /v1/leases", ask(otherToken));
    expect([answer.status, asProblem(answer).code]).toEqual([422, "credentials_needed"]);
    expect(asProblem(answer).hint).toContain("berth credentials put aws");
    for (const name of ["team/aws", "team/aws#1", "../team/aws", "aws#1"]) {
      const named = await berth.call("POST /v1/leases", ask(otherToken, { credentials: name }));
      expect([400, 422]).toContain(named.status);
    }
    // The reference itself cannot be sent as a parameter.
    const forged = ask(otherToken, { parameters: { credentials: "team/aws#1" } });
    expect((await berth.call("POST /v1/leases", forged)).status).toBe(422);
    expect(await berth.state()).toBe(before);
  });

  test("gets a cluster of its own: another space never gets it, even with the same parameters", async () => {
    await using berth = await site();
    for (const token of [testTokens.holder, otherToken]) {
      await berth.call("PUT /v1/credentials/aws", { token, body: { values } });
    }
    const mine = asRequest(await berth.call("POST /v1/leases", ask(testTokens.holder)));
    const theirs = asRequest(await berth.call("POST /v1/leases", ask(otherToken)));
    const first = await berth.make("byo");
    const granted = (id: string, token: string) => berth.call(`GET /v1/requests/${id}`, { token });
    expect((await granted(mine.id, mine.token)).status).toBe(200);
    expect((await granted(theirs.id, theirs.token)).status).toBe(202);
    await berth.call(`DELETE /v1/leases/${mine.id}`, mine);
    expect((await granted(theirs.id, theirs.token)).status).toBe(202);
    const second = await berth.make("byo");
    expect(second).not.toBe(first);
    expect((await granted(theirs.id, theirs.token)).status).toBe(200);
  });

  test("is destroyed with the version that it was made with, deleted meanwhile or not (B2)", async () => {
    await using berth = await site();
    const { holder } = testTokens;
    await berth.call("PUT /v1/credentials/aws", { token: holder, body: { values } });
    const lease = asRequest(await berth.call("POST /v1/leases", ask(holder)));
    const name = await berth.make("byo");
    await berth.call("PUT /v1/credentials/aws", {
      token: holder,
      body: { values: { K: "newer" } },
    });
    await berth.call("DELETE /v1/credentials/aws", { token: holder });
    await berth.call(`DELETE /v1/leases/${lease.id}`, lease);
    const work = await berth.take("destroying", "byo");
    expect(work?.resource).toBe(name);
    const path = `GET /v1/leases/${work?.id}/claims/${work?.claim}/credentials`;
    const read = await berth.call(path, { token: work?.token ?? "" });
    expect(read.body).toEqual({ values });
    expect((await berth.call(path, { token: lease.token })).status).toBe(403);
    expect(berth.log()).not.toContain(values.AWS_SECRET_ACCESS_KEY);
  });
});

test("a holder's lease does not open credentials: only the worker's does", async () => {
  await using berth = await site();
  await berth.call("PUT /v1/credentials/aws", { token: testTokens.holder, body: { values } });
  const waiting = asRequest(await berth.call("POST /v1/leases", ask(testTokens.holder)));
  await berth.make("byo");
  const lease = asLease(await berth.call(`GET /v1/leases/${waiting.id}`, waiting));
  const path = `GET /v1/leases/${waiting.id}/claims/${lease.claims[0]?.id}/credentials`;
  const answer = await berth.call(path, waiting);
  expect([answer.status, asProblem(answer).code]).toEqual([403, "not_its_worker"]);
});

test("credentials for a pool whose template has its own are refused", async () => {
  await using berth = await clusterSite([clusterPool("ocp")]);
  const body = { holder: "a job", items: [{ pool: "ocp", credentials: "aws" }] };
  const answer = await berth.call("POST /v1/leases", { body });
  expect([answer.status, asProblem(answer).code]).toEqual([422, "credentials_not_allowed"]);
});
