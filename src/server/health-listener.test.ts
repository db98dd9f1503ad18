import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { HealthListener } from "./health-listener.ts";

const address = { host: "127.0.0.1", port: 0 };

test("HealthListener answers while the thread of the server is blocked", async () => {
  const listener = await HealthListener.start("--health-listen", address);
  listener.setReady(true);
  const program = `fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text()))`;
  for (const path of ["/healthz", "/healthz/ready"]) {
    // `spawnSync` blocks this thread until the child has its answer.
    const { stdout } = spawnSync(process.execPath, ["-e", program, `${listener.url}${path}`], {
      encoding: "utf8",
      timeout: 30_000,
    });
    expect(stdout).toBe("200 OK\n");
  }
  await listener.close();
});

test("HealthListener is ready only after setReady()", async () => {
  const listener = await HealthListener.start("--health-listen", address);
  const status = async (path: string) => (await fetch(`${listener.url}${path}`)).status;
  expect([await status("/healthz"), await status("/healthz/ready")]).toEqual([200, 404]);
  listener.setReady(true);
  expect(await status("/healthz/ready")).toBe(200);
  listener.setReady(false);
  expect(await status("/healthz/ready")).toBe(404);
  await listener.close();
});

test("HealthListener reports that it cannot listen", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  await expect(HealthListener.start("--health-listen", { ...address, port })).rejects.toMatchObject(
    {
      name: "CannotServe",
      message: `Cannot listen on 127.0.0.1:${port}: something else listens there`,
      hint: "Choose another with --health-listen HOST:PORT",
      exitCode: 69,
    },
  );
  other.close();
});
