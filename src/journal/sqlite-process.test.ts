import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readAll } from "./journal.suite.ts";
import { JournalUnusable } from "./journal.ts";
import { SqliteJournal } from "./sqlite.ts";

/** Programs for a second process. Each prints lines to its standard output. */
const programs = {
  /** Opens the folder and stays, or prints why it cannot. */
  hold: `
    try {
      globalThis.journal = SqliteJournal.open(folder);
      console.log("open");
      setInterval(() => {}, 1_000);
    } catch (error) {
      console.log(error.message);
    }`,
  /** Prints each head once it is acknowledged, until it is killed. */
  append: `
    const journal = SqliteJournal.open(folder);
    for (let turn = 0; ; turn++) {
      const events = [];
      for (let event = 0; event <= (turn * 7) % 40; event++) {
        const id = String(journal.head + 1 + event);
        events.push({ type: "request-left", id, why: "cancelled" });
      }
      writeSync(1, (await journal.append(journal.head, Date.now(), events)) + "\\n");
    }`,
};

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-process-"));
});

afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  rmSync(folder, { recursive: true });
});

function start(program: keyof typeof programs): { child: ChildProcess; lines: LineReader } {
  const source = `
    import { writeSync } from "node:fs";
    import { SqliteJournal } from ${JSON.stringify(new URL("sqlite.ts", import.meta.url))};
    const folder = process.argv[1];
    ${programs[program]}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source, folder], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

type LineReader = AsyncIterator<string>;

async function nextLine(lines: LineReader): Promise<string | undefined> {
  const { done, value } = await lines.next();
  return done ? undefined : value;
}

/** Kills like `kill -9` or the out-of-memory killer, without any cleanup. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("open() names the process that has locked the folder, until it is killed", async () => {
  const { child, lines } = start("hold");
  expect(await nextLine(lines)).toBe("open");
  const opening = (): unknown => SqliteJournal.open(folder);
  expect(opening).toThrow(JournalUnusable);
  expect(opening).toThrow(
    new RegExp(
      `^Cannot open the data folder "${folder}": process ${child.pid} on .+ since 20.+Z has locked it$`,
    ),
  );
  await kill(child);
  await SqliteJournal.open(folder).close();
});

test("open() rejects a second journal in the same process, and the lock stays", async () => {
  const journal = SqliteJournal.open(folder);
  expect(() => SqliteJournal.open(folder)).toThrow(`process ${process.pid} on`);
  const { lines } = start("hold");
  expect(await nextLine(lines)).toContain(`process ${process.pid} on`);
  await journal.close();
  expect(await nextLine(start("hold").lines)).toBe("open");
});

test("open() finds every acknowledged commit after the writer was killed", async () => {
  let before = 0;
  for (const acknowledgements of [1, 2, 3, 5, 8, 13, 40, 100, 200, 400]) {
    const { child, lines } = start("append");
    let acknowledged = 0;
    for (let line = 0; line < acknowledgements; line++) {
      acknowledged = Number(await nextLine(lines));
    }
    await kill(child);
    for (let line = await nextLine(lines); line; line = await nextLine(lines)) {
      acknowledged = Number(line);
    }
    const journal = SqliteJournal.open(folder);
    const events = (await readAll(journal)).flatMap((commit) => commit.events);
    const { head } = journal;
    await journal.close();
    expect(acknowledged).toBeGreaterThan(before);
    expect(head).toBeGreaterThanOrEqual(acknowledged);
    expect(head - acknowledged, "more than one commit was under way").toBeLessThanOrEqual(40);
    const ids = events.map((event) => (event.type === "request-left" ? event.id : ""));
    expect(ids).toEqual(Array.from({ length: head }, (_, index) => String(index + 1)));
    before = head;
  }
}, 60_000);
