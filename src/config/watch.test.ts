import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WatchOptions } from "./file-watch.ts";
import type { ParsedConfig } from "./parse.ts";
import { type ConfigWatch, watchConfig } from "./watch.ts";

let directory = "";
let path = "";
let watches: ConfigWatch[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "berth-watch-"));
  path = join(directory, "berth.yaml");
});
afterEach(async () => {
  await Promise.all(watches.map((watched) => watched.close()));
  watches = [];
  await rm(directory, { recursive: true, force: true });
});

/** A poll that never comes shows that the file system's own events suffice. */
const eventsOnly = { settleMs: 20, pollMs: 3_600_000 };
const pollOnly = { settleMs: 1, pollMs: 20 };

/** What the watcher has told so far: the names of the pools, or "bad". */
class Told {
  readonly all: string[] = [];
  #wake = (): void => {};

  add(config: ParsedConfig): void {
    this.all.push(config.ok ? config.pools.map(({ name }) => name).join() : "bad");
    this.#wake();
  }

  async until(last: string): Promise<void> {
    while (this.all.at(-1) !== last) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function start(options: WatchOptions = eventsOnly): Promise<Told> {
  const told = new Told();
  watches.push(await watchConfig(path, (config) => told.add(config), options));
  return told;
}

/** As most editors do it: the old content or the new, never half of it. */
async function replace(text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

const one = "pools: { one: { count: 1 } }\n";
const two = "pools: { two: { count: 1 } }\n";

test("watchConfig() tells of a file that is written in place", async () => {
  await writeFile(path, one);
  const told = await start();
  await writeFile(path, two);
  await told.until("two");
});

test("watchConfig() tells of a file that is replaced by a rename, again and again", async () => {
  await replace(one);
  const told = await start();
  await replace(two);
  await told.until("two");
  await replace(one);
  await told.until("one");
  await replace(two);
  await told.until("two");
  expect(told.all).toEqual(["two", "one", "two"]);
});

test("watchConfig() follows the links of a Kubernetes ConfigMap", async () => {
  const publish = async (version: string, text: string): Promise<void> => {
    await mkdir(join(directory, version));
    await writeFile(join(directory, version, "berth.yaml"), text);
    await symlink(version, join(directory, "..data_tmp"));
    await rename(join(directory, "..data_tmp"), join(directory, "..data"));
  };
  await publish("..1", one);
  await symlink(join("..data", "berth.yaml"), path);
  const told = await start();
  await publish("..2", two);
  await rm(join(directory, "..1"), { recursive: true });
  await told.until("two");
  expect(told.all).toEqual(["two"]);
});

test("watchConfig() tells of a file that is deleted, and of its return", async () => {
  await replace(one);
  const told = await start();
  await rm(path);
  await told.until("bad");
  await replace(one);
  await told.until("one");
  expect(told.all).toEqual(["bad", "one"]);
});

test("watchConfig() waits for a file that is not there yet, nor its directory", async () => {
  path = join(directory, "later", "berth.yaml");
  const told = await start(pollOnly);
  await mkdir(join(directory, "later"));
  await replace(one);
  await told.until("one");
});

test("watchConfig() tells of a bad file, and of the good one after it", async () => {
  await replace(one);
  const told = await start();
  await replace("pools: [");
  await told.until("bad");
  await replace(two);
  await told.until("two");
  expect(told.all).toEqual(["bad", "two"]);
});

test("watchConfig() is silent about a touch and about the same content", async () => {
  await replace(one);
  const told = await start(pollOnly);
  await utimes(path, 1, 1);
  await replace(one);
  await replace(two);
  await told.until("two");
  expect(told.all).toEqual(["two"]);
});

test("watchConfig() is silent once it is closed", async () => {
  await replace(one);
  const silent = await start();
  const told = await start();
  await watches[0]?.close();
  await replace(two);
  await told.until("two");
  expect(silent.all).toEqual([]);
});

test("tells when a file that a template refers to has changed, and not when another has", async () => {
  const driver = join(directory, "driver.sh");
  await writeFile(driver, "#!/bin/sh\n", { mode: 0o755 });
  const text =
    "templates: { t: { driver: command, command: [./driver.sh] } }\npools: { p: { template: t } }";
  await writeFile(path, text);
  const revisions: string[] = [];
  const watched = await watchConfig(
    path,
    (config) => revisions.push(config.ok ? (config.templates[0]?.revision ?? "") : "bad"),
    eventsOnly,
  );
  watches.push(watched);
  await writeFile(join(directory, "other"), "nothing");
  await writeFile(driver, "#!/bin/sh\nexit 0\n");
  await expect.poll(() => revisions.length).toBe(1);
  await rm(driver);
  await expect.poll(() => revisions.length).toBe(2);
  expect(new Set(revisions).size).toBe(2);
});
