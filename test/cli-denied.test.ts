/** Commands of a caller whom the server does not know. */
import { expect, test, vi } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { TestServer } from "./cli-processes.ts";

const admin = `berth_${"a".repeat(43)}`;

test("berth status stops at the first refusal", async () => {
  const auth = {
    tokens: [{ name: "root", sha256: tokenHash(admin), space: "ops", role: "admin" }],
  };
  await using server = await TestServer.startWith({ pools: { aws: { count: 1 } }, auth });
  const env = { BERTH_TOKEN: `berth_${"b".repeat(43)}` };
  const { code, stderr } = await server.inProcess(["status"], env);
  expect(code).toBe(77);
  expect(stderr.match(/Cannot/g)).toHaveLength(1);
  // The record is in order: what comes before this call was made by `status`.
  await server.inProcess(["whoami"], env);
  const client = new BerthClient({ url: server.url, token: admin });
  const calls = async () => {
    const { items } = await client.audit({ action: "sign-in-refused" });
    return items.map(({ detail }) => detail?.["call"]);
  };
  await vi.waitUntil(async () => (await calls()).includes("GET /v1/whoami"), { timeout: 20_000 });
  expect(await calls()).toEqual(["GET /v1/whoami", "GET /v1/attention"]);
});
