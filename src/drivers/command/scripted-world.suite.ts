/** A folder with clusters that `test/fixtures/drivers/scripted.sh` makes. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Verb } from "./replies.ts";

export const scriptedProgram = fileURLToPath(
  new URL("../../../test/fixtures/drivers/scripted.sh", import.meta.url),
);

export class ScriptedWorld implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<ScriptedWorld> {
    const folder = await mkdtemp(join(tmpdir(), "berth-scripted-"));
    await mkdir(join(folder, "clusters"));
    await mkdir(join(folder, "do"));
    return new ScriptedWorld(folder);
  }

  /** Shell that runs before the verb does; undefined removes it. */
  async before(verb: Verb | "logs", script: string | undefined, name?: string): Promise<void> {
    const path = join(this.folder, "do", name === undefined ? verb : `${verb}.${name}`);
    if (script === undefined) await rm(path, { force: true });
    else await writeFile(path, script);
  }

  /** Every call so far, as `verb name instance`. */
  async calls(verb?: Verb | "logs"): Promise<readonly string[]> {
    const text = await readFile(join(this.folder, "calls"), "utf8").catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "");
    return verb === undefined ? lines : lines.filter((line) => line.startsWith(`${verb} `));
  }

  /** The names of the clusters that exist. */
  async clusters(): Promise<readonly string[]> {
    const names = await readdir(join(this.folder, "clusters"));
    return names.filter((name) => !/\.(?:new|gone)\./.test(name)).sort();
  }

  /** The instances of the clusters that exist. */
  async instances(): Promise<readonly string[]> {
    const names = await this.clusters();
    const read = names.map((name) => readFile(join(this.folder, "clusters", name, "instance")));
    return (await Promise.all(read)).map(String).sort();
  }

  /** Makes a cluster that nobody has asked for. */
  async occupy(name: string, instance = "of-somebody-else", createdAt?: string): Promise<void> {
    const folder = join(this.folder, "clusters", name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "instance"), instance);
    await writeFile(join(folder, "spec"), "");
    await writeFile(join(folder, "phase"), "ready\n");
    await writeFile(join(folder, "createdAt"), `${createdAt ?? new Date().toISOString()}\n`);
  }

  async set(name: string, file: "phase" | "log", text: string): Promise<void> {
    await writeFile(join(this.folder, "clusters", name, file), text);
  }

  async exists(name: string): Promise<boolean> {
    return existsSync(join(this.folder, "clusters", name));
  }

  async vanish(name: string): Promise<void> {
    await rm(join(this.folder, "clusters", name), { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
