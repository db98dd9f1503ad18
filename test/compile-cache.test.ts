import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";

const bare = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/_CACHE(?:_HOME)?$/.test(name)),
);

async function aFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "berth-compile-cache-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Prints the version, with nothing known of caches but what is given here. */
async function printVersion(env: NodeJS.ProcessEnv): Promise<void> {
  const started = new Process(berthPath, ["version"], { ...bare, ...env });
  expect([await started.ended, started.stdout, started.stderr]).toEqual([
    0,
    expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    "",
  ]);
}

const filesIn = async (path: string): Promise<number> =>
  (await readdir(path, { recursive: true })).length;

test("berth keeps compiled code in the cache folder of the user", async () => {
  await using home = await aFolder();
  await printVersion({ HOME: home.path });
  expect(await filesIn(join(home.path, ".cache", "berth", "compiled"))).toBeGreaterThan(20);

  await using named = await aFolder();
  await printVersion({ HOME: home.path, XDG_CACHE_HOME: named.path });
  expect(await filesIn(join(named.path, "berth", "compiled"))).toBeGreaterThan(20);
});

test("berth keeps the user's setting of NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE", async () => {
  await using home = await aFolder();
  await using own = await aFolder();
  await printVersion({ HOME: home.path, NODE_COMPILE_CACHE: own.path });
  expect(await filesIn(own.path)).toBeGreaterThan(20);
  await printVersion({ HOME: home.path, NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(await filesIn(home.path)).toBe(0);
});

test("berth starts if the cache folder cannot be created or written", async () => {
  await using home = await aFolder();
  await mkdir(join(home.path, ".cache"));
  await writeFile(join(home.path, ".cache", "berth"), "a file in the way");
  await printVersion({ HOME: home.path });
  await printVersion({ HOME: join(home.path, "not", "there") });
  await printVersion({ HOME: "" });
  // Nothing can be made there, whoever tries, and Node itself would try for ever.
  await printVersion({ HOME: "/proc/nobody" });
});
