/** A pool that is only a limit, on the command line. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
import { TestServer } from "./cli-processes.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({
    account: { limit: 2 },
    aws: { count: 5, parent: "account" },
  });
  const client = new BerthClient({ url: server.url });
  const ask = (holder: string) => ({ holder, items: [{ pool: "aws", count: 2 }], ttl: "10m" });
  await client.ask(ask("first"));
  await client.ask(ask("second"));
});
afterAll(() => server[Symbol.asyncDispose]());

test.each([
  [["status", "account"], /account +█+ +2\/2 +0 +0 +1 /],
  [["pools", "account"], /account \(limit\) +2 +0 +2 +0 +1 /],
  [["leases", "--pool", "account"], / first +aws-1 aws-2 /],
  [["queue", "--pool", "account"], / second +aws:2 .*account limit reached \(2\/2\)/],
])("berth %j shows its use, its holders and who waits", async (words, shown) => {
  const { stdout } = await server.inProcess(words);
  expect(stdout).toMatch(shown);
});
