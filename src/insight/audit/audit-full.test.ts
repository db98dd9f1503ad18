/** The audit on a full disk: nothing that the journal has is lost, and the chain stays whole. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { brokerOf } from "../../broker/test-broker.suite.ts";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import { Audit } from "./audit.ts";
import { auditPath, readAuditFile } from "./audit-file.ts";
import { allEntries } from "./reader.ts";
import { AuditStore } from "./store.ts";
import { ChainCheck } from "./verify.ts";

let disk: string;
let mounted = false;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), "berth-disk-"));
  mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]).status === 0;
});

afterEach(() => {
  if (mounted) execFileSync("umount", [disk]);
  rmSync(disk, { recursive: true });
});

/** Fills the rest of the disk, so that every write fails. */
function fillDisk(): string {
  const filler = join(disk, "filler");
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // The disk is full up to this size.
    }
  }
  return filler;
}

function verify() {
  using database = readAuditFile(auditPath(disk));
  const check = new ChainCheck({});
  const events: number[] = [];
  for (const entry of allEntries(database)) {
    check.add(entry);
    events.push(...[JSON.parse(entry.body).event ?? []].flat());
  }
  return { ...check.finish(), events };
}

test("the audit of a full disk goes on after the last entry when there is space", async (context) => {
  if (!mounted) return context.skip("mounting a small disk is not permitted");
  const { broker, journal } = await brokerOf([pool("aws", 1)]);
  const failures: string[] = [];
  const audit = new Audit(() => AuditStore.open(auditPath(disk)), journal, broker, {
    journalId: "one",
    everyMs: 1,
    failed: (cause) => failures.push(String(cause)),
  });
  const work = async (name: string) => {
    await broker.submit(acquire(name, "aws"), { way: "http", by: "ci" });
    await broker.submit(release(name), { way: "http", by: "ci" });
  };
  await work("before");
  await audit.caughtUp();
  const { last } = verify();
  const filler = fillDisk();
  // Lending does not wait for the audit.
  for (let count = 0; count < 300; count++) await work(`full-${count}`);
  await until(() => failures.length > 0);
  expect(failures).toEqual([expect.stringMatching(/write the audit in ".+": .*(full|I\/O)/)]);
  expect(audit.lag).toBeGreaterThan(0);
  expect(audit.head).toEqual(last);
  rmSync(filler);
  await work("after");
  await audit.caughtUp();
  expect(audit.lag).toBe(0);
  await audit.close();
  const { problems, events } = verify();
  expect(problems).toEqual([]);
  expect(new Set(events).size).toBe(events.length);
  expect(events.at(-1)).toBe(broker.head);
  expect(events.length).toBeGreaterThanOrEqual(2 * 302);
  expect(failures).toHaveLength(1);
});
