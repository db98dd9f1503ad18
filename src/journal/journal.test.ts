import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journalSuite } from "./journal.suite.ts";
import { MemoryJournal } from "./memory.ts";
import { SqliteJournal } from "./sqlite.ts";

journalSuite("MemoryJournal", async () => {
  const disk = { journal: new MemoryJournal() };
  return {
    async open() {
      disk.journal = disk.journal.reopen();
      return disk.journal;
    },
    async remove() {},
  };
});

journalSuite("SqliteJournal", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-journal-"));
  return {
    async open() {
      return SqliteJournal.open(folder);
    },
    async remove() {
      await rm(folder, { recursive: true });
    },
  };
});
