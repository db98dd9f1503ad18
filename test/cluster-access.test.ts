/**
 * Access to clusters from end to end: a server with its provisioner, a driver program, and jobs of
 * `berth run`. Every file of the data folder and every line of the log is searched for secrets.
 */

import { hash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
import { TestServer } from "./cli-processes.ts";

const driver = fileURLToPath(new URL("./fixtures/drivers/scripted.sh", import.meta.url));

const tokens = {
  a: "token-of-team-a-0123456789",
  b: "token-of-team-b-0123456789",
  admin: "token-of-admin-0123456789",
};
const auth = {
  tokens: [
    { name: "a", sha256: hash("sha256", tokens.a), space: "team-a", role: "holder" },
    { name: "b", sha256: hash("sha256", tokens.b), space: "team-b", role: "holder" },
    { name: "admin", sha256: hash("sha256", tokens.admin), space: "ops", role: "admin" },
  ],
};

interface World extends AsyncDisposable {
  readonly server: TestServer;
  /** The folder of the driver's clusters. */
  readonly world: string;
  /** Files of the data folder, with their bytes. */
  files(): readonly { readonly name: string; readonly bytes: Buffer; readonly mode: number }[];
}

async function start(pools: object, more: object = {}, template: object = {}): Promise<World> {
  const world = await mkdtemp(join(tmpdir(), "berth-world-"));
  await mkdir(join(world, "do"), { recursive: true });
  const templates = {
    small: {
      driver: "command",
      command: [driver],
      env: { WORLD: world, PATH: process.env["PATH"] ?? "" },
      parameters: { version: { enum: ["1.34", "1.35"], default: "1.35" } },
      pinned: { region: "pinned-region-value" },
      cost: 2,
      ...template,
    },
  };
  const server = await TestServer.startWith({ templates, pools, ...more });
  const data = join(server.folder, "data");
  return {
    server,
    world,
    files: () =>
      readdirSync(data).map((name) => {
        const path = join(data, name);
        return { name, bytes: readFileSync(path), mode: statSync(path).mode & 0o777 };
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(world, { recursive: true, force: true });
    },
  };
}

/** What the driver hands out: `token: secret-of-INSTANCE` and `password-of-INSTANCE`. */
const secretForm = /(?:secret|password)-of-[a-z0-9.-]+/;

function secretsFoundIn(world: World): string[] {
  const found = world.files().flatMap(({ name, bytes }) => {
    const hit = secretForm.exec(bytes.toString("latin1"))?.[0];
    return hit === undefined ? [] : [`${name}: ${hit}`];
  });
  const inLog = secretForm.exec(world.server.log)?.[0];
  return inLog === undefined ? found : [...found, `log: ${inLog}`];
}

describe("berth run with a cluster", () => {
  test("gives the command a private kubeconfig, and takes it away", async () => {
    await using world = await start({ ocp: { template: "small" } });
    const script = [
      'stat -c "mode %a" "$KUBECONFIG" "$(dirname "$KUBECONFIG")"',
      'cat "$KUBECONFIG" "$KUBEADMIN_PASSWORD_FILE"',
      'echo "path $KUBECONFIG"; [ "$KUBECONFIG" = "$BERTH_KUBECONFIG_OCP" ] && echo same',
      'echo "again $(berth access)"',
    ].join("; ");
    const bin = fileURLToPath(new URL("../bin", import.meta.url));
    const run = await world.server.done(
      [
        "run",
        "--pool",
        "ocp",
        "--",
        "sh",
        "-c",
        script.replaceAll("berth access", `${bin}/berth access`),
      ],
      {},
    );
    expect(run.stderr).toContain("Acquired 1 lease(s) for ocp");
    expect(run.stdout).toMatch(/mode 600\nmode 700\n/);
    expect(run.stdout).toMatch(/token: secret-of-ocp-1\S*\npassword-of-ocp-1/);
    expect(run.stdout).toContain("same");
    expect(run.stdout).toMatch(/again token: secret-of-ocp-1/);
    expect(run.code).toBe(0);
    const [, path = ""] = /path (.*)/.exec(run.stdout) ?? [];
    expect(() => statSync(path)).toThrow(/ENOENT/);
    // Used clusters are destroyed, and then nothing of them is left in the vault.
    const client = new BerthClient({ url: world.server.url });
    await expect.poll(() => client.clusters.every(), { timeout: 20_000 }).toEqual([]);
    expect(readdirSync(join(world.world, "clusters"))).toEqual([]);
    expect(secretsFoundIn(world)).toEqual([]);
    for (const { name, mode } of world.files()) {
      if (/vault|cluster-logs/.test(name)) expect([name, mode]).toEqual([name, 0o600]);
    }
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "removes the kubeconfig when %s ends it",
    async (signal) => {
      await using world = await start({ ocp: { template: "small" } });
      const run = world.server.berth([
        "run",
        "--pool",
        "ocp",
        "--",
        "sh",
        "-c",
        'echo "path $KUBECONFIG"; exec sleep 60',
      ]);
      const [, path = ""] = await run.says(/path (.*)\n/);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      run.signal(signal);
      await run.ended;
      expect(() => statSync(path)).toThrow(/ENOENT/);
    },
  );

  test("survives a restart of the server: the access is read again from the vault", async () => {
    await using world = await start({ ocp: { template: "small", size: 1, running: 1 } });
    const { server } = world;
    const acquired = await server.done(["acquire", "--pool", "ocp", "-o", "json"]);
    expect(acquired.stderr).toContain("berth access");
    const { id, token } = JSON.parse(acquired.stdout) as { id: string; token: string };
    await server.stop("SIGKILL");
    await server.start();
    const access = await server.done(["access", id, "--token", token, "-o", "json"]);
    expect(JSON.parse(access.stdout)).toMatchObject({ username: "admin", resource: "ocp-1" });
    const kubeconfig = await server.done(["access", id], { BERTH_LEASE_TOKEN: token });
    expect(kubeconfig.stdout).toMatch(/^token: secret-of-ocp-1/);
    await server.done(["release", id, "--token", token]);
    const late = await server.done(["access", id, "--token", token]);
    expect([late.code, late.stdout]).toEqual([76, ""]);
    expect(secretsFoundIn(world)).toEqual([]);
  });
});

test("nobody else gets the access, and the attempt is recorded (X2)", async () => {
  await using world = await start({ ocp: { template: "small" } }, { auth, spaceDefaults: {} });
  const { server } = world;
  const mine = await server.done(["acquire", "--pool", "ocp", "-o", "json"], {
    BERTH_TOKEN: tokens.a,
  });
  const lease = JSON.parse(mine.stdout) as { id: string; token: string; claims: { id: string }[] };
  const path = `${server.url}/v1/leases/${lease.id}/claims/${lease.claims[0]?.id}/access`;
  for (const token of [tokens.b, tokens.admin, tokens.a]) {
    const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toMatch(secretForm);
  }
  const audit = await server.done(["audit", "-o", "json"], { BERTH_TOKEN: tokens.admin });
  expect(audit.stdout).not.toMatch(secretForm);
  expect(JSON.parse(audit.stdout)).toContainEqual(
    expect.objectContaining({
      action: "call-refused",
      lease: lease.id,
      detail: expect.objectContaining({ call: "GET /v1/leases/:id/claims/:claim/access" }),
    }),
  );
  // The other space sees that there is a cluster, and nothing of what is in it.
  const seen = await server.done(["clusters", "-o", "json"], { BERTH_TOKEN: tokens.b });
  expect(JSON.parse(seen.stdout)).toMatchObject([
    { state: "busy", apiUrl: null, message: "", parameters: {}, space: null, lease: { id: "" } },
  ]);
});

test("pinned values and commands are in no answer, and in no file of the data folder", async () => {
  await using world = await start({ ocp: { template: "small", size: 1 } });
  const client = new BerthClient({ url: world.server.url });
  await expect
    .poll(() => client.clusters.every(), { timeout: 20_000 })
    .toMatchObject([{ state: "free" }]);
  const template = await client.clusters.template("small");
  expect(template).toMatchObject({
    driver: "command",
    pinned: ["region"],
    pools: ["ocp"],
    cost: 2,
  });
  const answers = await Promise.all(
    ["templates", "clusters", "pools", "config", "events/past", "history"].map(async (path) =>
      (await fetch(`${world.server.url}/v1/${path}`)).text(),
    ),
  );
  for (const text of answers) {
    expect(text).not.toContain("pinned-region-value");
    expect(text).not.toContain(driver);
  }
});

test("a failed cluster leaves its logs, masked, and the cluster is replaced (X4)", async () => {
  await using world = await start(
    { ocp: { template: "small" } },
    {},
    { limits: { create: "10s" } },
  );
  const { server } = world;
  await writeFile(
    join(world.world, "do", "create"),
    `if [ ! -f "$WORLD/failed" ]; then make; touch "$WORLD/failed"
     echo "AKIAIOSFODNN7EXAMPLE used; password=hunter2-hunter2" > "$here/log"
     say "boot failed with password=hunter2-hunter2"; exit 20; fi`,
  );
  const run = await server.done(["run", "--pool", "ocp", "--timeout", "1m", "--", "true"]);
  expect(run.code).toBe(0);
  const logs = await server.done(["clusters", "logs", "ocp-1"]);
  expect(logs.stdout).toContain("log of");
  expect(logs.stdout).toContain("[hidden]");
  expect(logs.all).not.toMatch(/hunter2|AKIAIOSFODNN7EXAMPLE/);
  for (const { name, bytes } of world.files()) {
    expect(/hunter2|AKIAIOSFODNN7EXAMPLE/.test(bytes.toString("latin1")), name).toBe(false);
  }
  expect(server.log).not.toMatch(/hunter2|AKIAIOSFODNN7EXAMPLE/);
});

test("a space's own credentials reach its driver, outlive their deletion, and are erased (B1, B2)", async () => {
  await using world = await start(
    { byo: { template: "small" } },
    { auth, spaceDefaults: {} },
    { ownCredentials: "aws" },
  );
  const { server } = world;
  const as = (token: string) => ({ BERTH_TOKEN: token });
  const early = await server.done(["run", "--pool", "byo", "--", "true"], as(tokens.a));
  expect(early.code).toBe(77);
  expect(early.stderr).toContain("berth credentials put aws");
  const key = "cloud-key-of-team-a-17";
  const put = await server.done(["credentials", "put", "aws", "CLOUD_KEY"], {
    ...as(tokens.a),
    CLOUD_KEY: key,
  });
  expect(put.stdout).toBe("aws is stored as version 1: CLOUD_KEY\n");
  const acquired = await server.done(["acquire", "--pool", "byo", "-o", "json"], as(tokens.a));
  const { id, token } = JSON.parse(acquired.stdout) as { id: string; token: string };
  const listed = await server.done(["credentials", "list", "-o", "wide"], as(tokens.a));
  expect(listed.stdout).toMatch(/aws\s+1\s+CLOUD_KEY\s+\S+\s+1\s+team-a\s+byo-1/);
  expect((await server.done(["credentials", "list"], as(tokens.b))).stdout).toBe("");
  await server.done(["credentials", "delete", "aws"], as(tokens.a));
  await server.done(["release", id, "--token", token]);
  const client = new BerthClient({ url: server.url, token: tokens.admin });
  await expect.poll(() => client.clusters.every(), { timeout: 20_000 }).toEqual([]);
  for (const { name, bytes } of world.files()) expect(bytes.includes(key), name).toBe(false);
  expect(server.log).not.toContain(key);
  const costs = await server.done(["costs", "-o", "json", "--by", "space"], as(tokens.admin));
  expect(JSON.parse(costs.stdout)).toContainEqual(
    expect.objectContaining({ space: "team-a", clusters: 1 }),
  );
});

test("a lost key stops access, not lending, and a rotation keeps everything readable", async () => {
  await using world = await start({ ocp: { template: "small", size: 2, running: 2 } });
  const { server } = world;
  const data = join(server.folder, "data");
  const acquired = await server.done(["acquire", "--pool", "ocp", "-o", "json"]);
  const { id, token } = JSON.parse(acquired.stdout) as { id: string; token: string };
  const rotated = await server.done(["vault", "rotate", "--data", data]);
  expect(rotated.stdout).toMatch(/^Sealed [1-4] secrets? with the first key/);
  expect((await server.done(["access", id, "--token", token])).stdout).toContain("secret-of-ocp");
  renameSync(join(data, "vault.key"), join(data, "moved.key"));
  const client = new BerthClient({ url: server.url });
  const [claim] = (await client.lease(id, { token })).claims;
  await expect(client.clusters.access({ id, token }, claim?.id ?? "")).rejects.toMatchObject({
    code: "vault_unavailable",
    status: 503,
  });
  expect((await server.done(["heartbeat", id, "--token", token])).code).toBe(0);
  renameSync(join(data, "moved.key"), join(data, "vault.key"));
  expect((await server.done(["access", id, "--token", token])).stdout).toContain("secret-of-ocp");
});
