import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
import { TestServer } from "./cli-processes.ts";

const pools = { single: { members: ["only-1"], lockDelay: "0s" } };

test("withLease() runs one callback at a time, over crashes of the server", async () => {
  await using server = await TestServer.start(pools);
  const fences: number[] = [];
  let inside = 0;
  let insideMax = 0;
  const firstIn = Promise.withResolvers<void>();
  const restarted = Promise.withResolvers<void>();
  const worker = async (number: number) => {
    const client = new BerthClient({ url: server.url });
    const ask = { items: [{ pool: "single" }], holder: `worker/${number}` };
    await client.withLease(ask, async ({ claims: [claim] }) => {
      insideMax = Math.max(insideMax, ++inside);
      fences.push(claim?.fence ?? 0);
      firstIn.resolve();
      await restarted.promise; // The first holds it over the crash; all others wait in line.
      await new Promise(setImmediate);
      inside -= 1;
    });
  };
  const workers = Array.from({ length: 20 }, (_, number) => worker(number));
  await firstIn.promise;
  await server.stop("SIGKILL");
  await server.start();
  restarted.resolve();
  await Promise.all(workers);
  expect(insideMax).toBe(1);
  expect(fences).toHaveLength(20);
  expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  expect(new Set(fences).size).toBe(20);
});

test("withLease() leaves nothing that keeps a process alive", async () => {
  await using server = await TestServer.start(pools);
  const library = fileURLToPath(new URL("../src/client/berth-client.ts", import.meta.url));
  const program = `
    const { BerthClient } = await import(${JSON.stringify(library)});
    const ask = { items: [{ pool: "single" }], holder: "program" };
    const client = new BerthClient({ url: ${JSON.stringify(server.url)} });
    console.log(await client.withLease(ask, async ({ claims }) => claims[0].resource));
    console.log(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length);`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe("only-1\n0\n");
});
