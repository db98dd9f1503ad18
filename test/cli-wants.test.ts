/** What requests want beyond a count: amounts, labels and names, in all listings. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { TestServer } from "./cli-processes.ts";

let server: TestServer;
beforeAll(async () => {
  const host = { capacity: { vcpus: 60, memory: 256 } };
  server = await TestServer.start({
    hv: { place: "least-used", members: { "hv-1": host } },
    aws: {
      members: {
        "aws-1": { labels: { region: "eu-west" } },
        "aws-2": { labels: { region: "us-east" } },
      },
    },
  });
  const berth = (...words: string[]) => server.inProcess(["acquire", ...words]);
  await berth("--pool", "hv", "--amount", "vcpus=26", "--amount", "memory=64", "--holder", "vm");
  await berth("--pool", "aws", "--resource", "aws-2", "--holder", "east");
});
afterAll(() => server[Symbol.asyncDispose]());

test("leases show the resources that were selected, and the amounts of shares", async () => {
  const { stdout } = await server.inProcess(["leases"]);
  expect(stdout).toMatch(/vm +hv-1 \(vcpus=26 memory=64\)/);
  expect(stdout).toMatch(/east +aws-2 /);
});

test("queue and explain show the labels and amounts that are wanted", async () => {
  const items = [
    { pool: "hv", amount: { vcpus: 60 } },
    { pool: "aws", selector: { region: "us-east" } },
  ];
  const method = "POST";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ holder: "both", items });
  const reply = await fetch(`${server.url}/v1/leases`, { method, headers, body });
  const { id } = (await reply.json()) as { id: string };
  const { stdout } = await server.inProcess(["queue"]);
  expect(stdout).toContain("hv (vcpus=60) aws (region=us-east)");
  const explained = (await server.inProcess(["explain", id])).stdout;
  expect(explained).toContain("aws with region=us-east: needs 1, 0 of 1 free");
  const byHolder = (await server.inProcess(["explain", "both"])).stdout;
  expect(byHolder).toContain("aws with region=us-east: needs 1, 0 of 1 free");
  await fetch(`${server.url}/v1/leases`, { method, headers, body });
  const several = await server.inProcess(["explain", "both"]);
  expect(several.code).toBe(exitCodes.usage);
  expect(several.stderr).toContain('Cannot explain "both": 2 requests of this holder wait');
  expect(several.stderr).toContain(id);
  const nobody = await server.inProcess(["explain", "nobody"]);
  expect(nobody.stderr).toContain('Cannot find request "nobody"');
});

test("a label that no resource has is refused with the nearest one", async () => {
  const words = ["acquire", "--pool", "aws", "--selector", "region=eu-wset"];
  const { code, stderr } = await server.inProcess(words);
  expect(code).toBe(exitCodes.refused);
  expect(stderr).toContain("Did you mean region=eu-west?");
});

test("a key that only shared pools know is refused with the flags that do", async () => {
  const words = ["acquire", "--pool", "aws", "--exclude", "aws-1"];
  const { code, stderr } = await server.inProcess(words);
  expect(code).toBe(exitCodes.refused);
  expect(stderr).toContain("use --pool POOL:COUNT, --selector or --resource only");
});
