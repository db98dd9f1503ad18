/** `berth import boskos` as a process, with a server before and after it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-import-"));
  await writeFile(
    join(folder, "boskos.yaml"),
    "resources:\n- { type: aws, names: [aws-1, aws-2] }\n- { type: dt, max-count: 2 }\n",
  );
});

afterEach(() => rm(folder, { recursive: true }));

const object = (name: string, type: string, status: object) => {
  return { kind: "ResourceObject", metadata: { name }, spec: { type }, status };
};
const leased = { state: "leased", owner: "job/1", lastUpdate: "2026-06-09T10:01:46Z" };
const dump = {
  kind: "List",
  items: [
    object("aws-2", "aws", { ...leased, userData: { "secret-access-key": "s3cr3t" } }),
    object("aws-1", "aws", { state: "dirty", owner: "", lastUpdate: "2026-06-08T00:00:00Z" }),
    { kind: "DRLCObject", metadata: { name: "dt" }, spec: { "min-count": 0, "max-count": 9 } },
  ],
};

const settings = () => [
  ...["--config", join(folder, "boskos.yaml")],
  ...["--data", join(folder, "data")],
];

async function importing(input: unknown, ...more: string[]): Promise<Process & { code: number }> {
  const process_ = new Process(
    berthPath,
    ["import", "boskos", "-", ...settings(), ...more],
    process.env,
  );
  process_.type(typeof input === "string" ? input : JSON.stringify(input));
  process_.child.stdin?.end();
  return Object.assign(process_, { code: await process_.ended });
}

test("import takes over leases, which the server then knows by name", async () => {
  const dry = await importing(dump, "--dry-run");
  expect(dry.stdout).toContain("Would import 1 lease\nNothing was changed");
  const done = await importing(dump);
  expect(done).toMatchObject({
    code: 0,
    stdout: "Imported 2 resources: 1 dirty, 1 leased\nImported 1 lease\n",
    stderr: "warning: Boskos kept 0 to 9 of dt, the configuration says 0 to 2\n",
  });
  const listen = ["--listen", "127.0.0.1:0"];
  const server = new Process(berthPath, ["serve", ...settings(), ...listen], process.env);
  const [, url = ""] = await server.says(/ at (http:[^\s"]+)/);
  const { items } = (await (await fetch(`${url}/v1/resources`)).json()) as { items: unknown[] };
  expect(items).toMatchObject([
    { name: "aws-1", state: "dirty", lease: null },
    { name: "aws-2", state: "leased", lease: { holder: "job/1" } },
  ]);
  const busy = await importing(dump);
  expect(busy.code).toBe(69);
  expect(busy.stderr).toMatch(/Cannot open the data folder .*\n {2}Stop the server that uses/);
  server.signal("SIGTERM");
  await server.ended;
  const again = await importing(dump, "-o", "json");
  expect(JSON.parse(again.stdout)).toMatchObject({ leases: 0, already: 1, left: [] });
  expect(dry.all + done.all + again.all + server.all).not.toContain("s3cr3t");
});

test("import changes nothing when its input or the configuration is bad", async () => {
  const bad = await importing({ items: [object("a", "aws", { owner: 5 })] });
  expect(bad.code).toBe(65);
  expect(bad.stderr).toContain("-: Cannot read items[0].status.owner: it is not text");
  const foreign = await importing({ items: [{ kind: "Resource", metadata: { name: "a" } }] });
  expect(foreign.code).toBe(65);
  expect(foreign.stderr).toContain("it has no object of Boskos, only 1 of kind Resource");
  const empty = await importing({ kind: "List", items: [] });
  expect(empty.code).toBe(65);
  expect(empty.stderr).toContain("Cannot import -: it has no object of Boskos\nNothing");
  const missing = new Process(
    berthPath,
    ["import", "boskos", "nowhere", ...settings()],
    process.env,
  );
  expect(await missing.ended).toBe(66);
  await writeFile(join(folder, "boskos.yaml"), "resources: []\n");
  const unconfigured = await importing(dump);
  expect(unconfigured.code).toBe(78);
  expect(unconfigured.stderr).toContain("boskos.yaml:1:1: empty config");
});
