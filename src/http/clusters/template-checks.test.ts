import { expect, test } from "vitest";
import { testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { clusterSite } from "./clusters-site.suite.ts";

const { holder, viewer, worker } = testTokens;
const put = "PUT /v1/template-checks";
const why = "the credential aws is missing: ENOENT: /etc/aws.ini";
const ocp = { name: "ocp-aws", why };

const checkedSite = () => clusterSite([clusterPool("ocp")], testAuth, worker);
type Site = Awaited<ReturnType<typeof checkedSite>>;

async function report(site: Site, provisioner: string, ...unusable: (typeof ocp)[]) {
  const body = { provisioner, unusable };
  expect((await site.call(put, { body, token: worker })).status).toBe(204);
}

async function seen(site: Site, token: string): Promise<unknown> {
  const { body } = await site.call("GET /v1/templates/ocp-aws", { token });
  return (body as { unusable: unknown }).unusable;
}

test("what a provisioner lacks is shown to those who may observe; others learn that it is so", async () => {
  await using site = await checkedSite();
  expect(await seen(site, viewer)).toBeNull();
  await report(site, "ci/1", ocp, { ...ocp, name: "not-here" });
  expect(await seen(site, viewer)).toBe(`ci/1: ${why}`);
  expect(await seen(site, holder)).toBe("Something that it needs is missing: ask an operator");
  const attention = (await site.call("GET /v1/attention", { token: viewer })).text;
  expect(attention).toContain("template_unusable");
  expect(attention).not.toContain("not-here");
  expect((await site.call("GET /v1/attention", { token: holder })).text).not.toContain("aws.ini");
});

test("each provisioner speaks for itself, and one that is silent is forgotten", async () => {
  await using site = await checkedSite();
  await report(site, "ci/1", ocp);
  await site.clock.advance(50_000);
  await report(site, "ci/2", ocp);
  expect(await seen(site, viewer)).toBe(`ci/1: ${why}; ci/2: ${why}`);
  await site.clock.advance(20_000);
  expect(await seen(site, viewer)).toBe(`ci/2: ${why}`);
  await report(site, "ci/2");
  expect(await seen(site, viewer)).toBeNull();
});

test("a secret in a report is not shown", async () => {
  await using site = await checkedSite();
  site.vault.redactor.register("s3cret-of-the-vault");
  await report(site, "ci/1", { ...ocp, why: "no file s3cret-of-the-vault" });
  expect(await seen(site, viewer)).toBe("ci/1: no file [hidden]");
});
