/** A whole install step in a real bash, with only the installer pretended. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const workflow = fileURLToPath(new URL("install-workflow.sh", import.meta.url));
const slot = "openshift-org-azure--azure4--install-quota-slice";
const configWith = (ttl: string) => ({
  pools: {
    "azure-set": { members: ["azure4--eastus--quota-slice-0"], lockDelay: "0s", ttl },
    [slot]: { count: 2, lockDelay: "0s", ttl },
  },
  profiles: {
    azure4: { type: "azure4", pool: "azure-set" },
    "openshift-org-azure": { type: "azure4", pool: "azure-set", members: ["azure4"] },
  },
});

const quick = { LEASE_RETRIES: "1", LEASE_RETRY_DELAY: "0", LANG: "C" };

async function install(
  server: TestServer,
  installer: string,
  options: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
) {
  const file = join(server.folder, "installer");
  await writeFile(file, `#!/bin/bash\n${installer}\n`);
  await chmod(file, 0o755);
  const args = ["run", "--proxy", "--profile", "openshift-org-azure", ...options];
  return server.berth([...args, "--", "bash", "--norc", workflow], {
    ...quick,
    INSTALLER: file,
    LEASE_HANDLE_DIR: server.folder,
    ...env,
  });
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Every look is a process of its own, so this is no busy loop. */
async function nothingLeft(server: TestServer): Promise<void> {
  for (;;) if (((await server.json("leases")) as []).length === 0) return;
}

test("five attempts take five leases to create and four to destroy, one after the other", async () => {
  await using server = await TestServer.startWith(configWith("5m"));
  const run = await install(server, 'echo "installing"; if [ "$1" = 5 ]; then exit 0; fi; exit 4');
  expect(await run.ended).toBe(0);
  expect(count(run.stdout, /Create cluster install lease acquired: \S+/g)).toBe(5);
  expect(count(run.stdout, /Destroy cluster install lease acquired: \S+/g)).toBe(4);
  expect(run.stdout).toContain("Install attempt 5 of 5\n");
  expect(count(run.stdout, /--install-quota-slice-\d released/g)).toBe(9);
  expect(count(run.stderr, /Acquired 1 lease\(s\) for openshift-org-azure--azure4--inst/g)).toBe(9);
  expect(run.stderr).not.toContain("Releasing the leases of the job");
  expect(await server.json("leases")).toEqual([]);
});

test("the lease is released in the background while the installation continues", async () => {
  await using server = await TestServer.startWith(configWith("5m"));
  const run = await install(server, "sleep 60", [], { RELEASE_LEASE_DELAY: "0.1s" });
  await run.says(/--install-quota-slice-\d released/);
  const leases = (await server.json("leases")) as { claims: { resource: string }[] }[];
  expect(leases.flatMap(({ claims }) => claims.map(({ resource }) => resource))).toEqual([
    "azure4--eastus--quota-slice-0",
  ]);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(143);
});

test("SIGTERM during the installation releases the leases, and logs it", async () => {
  await using server = await TestServer.startWith(configWith("5m"));
  const run = await install(server, "echo installing; sleep 60");
  await run.says(/installing/);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(143);
  expect(run.stdout).toContain("Releasing install leases (if any)");
  expect(run.stdout).toMatch(/--install-quota-slice-\d released/);
  expect(run.stderr).toContain("Releasing leases for test bash: [azure4--eastus--quota-slice-0]");
  expect(await server.json("leases")).toEqual([]);
});

test("after SIGKILL during the installation, the leases expire after the ttl", async () => {
  await using server = await TestServer.startWith(configWith("5s"));
  const run = await install(server, "echo installing; sleep 1");
  await run.says(/installing/);
  run.signal("SIGKILL");
  await run.ended;
  await nothingLeft(server);
});

test("an outage does not fail the installation, and the leases expire after the ttl", async () => {
  await using server = await TestServer.startWith(configWith("5s"));
  const installer = `echo "installing $1"
    if [ "$1" = 1 ]; then until [ -f "$(dirname "$0")/down" ]; do sleep 0.1; done; exit 4; fi`;
  const options = ["--fail-open", "--connect-timeout", "0"];
  const run = await install(server, installer, options);
  await run.says(/installing 1/);
  await server.stop("SIGKILL");
  await writeFile(join(server.folder, "down"), "");
  expect(await run.ended).toBe(0);
  expect(run.stdout).toContain("installing 2\nInstaller exit with code 0");
  expect(run.stderr).toContain(`Unexpected response code 503 while acquiring lease "${slot}"`);
  expect(run.stderr).toMatch(
    /Cannot give \[?\S*install-quota-slice-\d\]? back|Cannot release lease/,
  );
  await server.start();
  await nothingLeft(server);
});
