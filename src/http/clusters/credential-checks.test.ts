import { expect, test } from "vitest";
import { asProblem } from "../test-site.suite.ts";
import { byoTemplate, clusterSite } from "./clusters-site.suite.ts";

const key = "AKIA-not-a-good-key-17";
const body = { values: { KEY: key } };

async function siteThatChecks() {
  const site = await clusterSite();
  site.templates.splice(0, site.templates.length, { ...byoTemplate, validates: true });
  return site;
}

test("B1: a key that a worker refuses is not stored, and the driver's words are shown", async () => {
  await using site = await siteThatChecks();
  const putting = site.call("PUT /v1/credentials/aws", { body });
  const { body: check } = await site.call("GET /v1/credential-checks?wait=10s");
  expect(check).toMatchObject({ template: "byo-aws", values: { KEY: key } });
  const { id } = check as { id: string };
  const answer = { verdict: "refused", why: `the key ${key} was revoked` };
  expect((await site.call(`PUT /v1/credential-checks/${id}`, { body: answer })).status).toBe(204);
  const refused = await putting;
  expect([refused.status, asProblem(refused)]).toMatchObject([
    422,
    {
      code: "credentials_refused",
      detail: 'Cannot store the credentials "aws": the key [hidden] was revoked',
    },
  ]);
  expect((await site.call("GET /v1/credentials")).body).toMatchObject({ items: [] });
  const late = await site.call(`PUT /v1/credential-checks/${id}`, { body: answer });
  expect([late.status, asProblem(late).code]).toEqual([404, "check_not_found"]);
});

test("B1: a key that works is stored; one that cannot be checked is not", async () => {
  await using site = await siteThatChecks();
  const put = async (verdict: string) => {
    const putting = site.call("PUT /v1/credentials/aws", { body });
    const { body: check } = await site.call("GET /v1/credential-checks?wait=10s");
    const { id } = check as { id: string };
    await site.call(`PUT /v1/credential-checks/${id}`, { body: { verdict, why: "down" } });
    return putting;
  };
  const unknown = await put("unknown");
  expect([unknown.status, asProblem(unknown).code]).toEqual([503, "credentials_unchecked"]);
  expect((await put("valid")).body).toMatchObject({ name: "aws", version: 1 });
});

test("credentials of a name that no such template uses need no check", async () => {
  await using site = await siteThatChecks();
  expect((await site.call("PUT /v1/credentials/gcp", { body })).status).toBe(200);
  expect((await site.call("GET /v1/credential-checks")).status).toBe(204);
});
