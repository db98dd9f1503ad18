import { describe, expect, test } from "vitest";
import { freeze } from "../core/apply/snapshot.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import type { Instant } from "../core/model/time.ts";
import { JournalDamaged } from "../journal/journal.ts";
import { recover } from "./recovery.ts";
import { brokerOf } from "./test-broker.suite.ts";

const always = Number.MAX_SAFE_INTEGER as Instant;

/** A journal of some leases, and another server that saves a snapshot of it and prunes. */
async function shared() {
  const { broker, journal } = await brokerOf([pool("aws", 1)]);
  for (const name of ["a", "b", "c"]) {
    await broker.submit(acquire(name, "aws"));
    await broker.submit(release(name));
  }
  const whole = await recover(journal);
  const prune = async () => {
    const state = JSON.stringify(freeze(whole.state));
    await journal.saveSnapshot({ seq: whole.head, at: whole.at, state });
    expect(await journal.prune(always)).toBeGreaterThan(0);
  };
  return { journal, whole, prune };
}

describe("recover()", () => {
  test("starts again if another server prunes between the snapshot and the events", async () => {
    const { journal, whole, prune } = await shared();
    let loads = 0;
    const found = await recover({
      loadSnapshot: async () => {
        const snapshot = await journal.loadSnapshot();
        loads += 1;
        if (loads === 1) await prune();
        return snapshot;
      },
      read: (seq) => journal.read(seq),
    });
    expect(loads).toBe(2);
    expect(found.head).toBe(whole.head);
    expect(freeze(found.state)).toEqual(freeze(whole.state));
  });

  test("says that events are missing if no snapshot covers them", async () => {
    const { journal, prune } = await shared();
    await prune();
    const broken = {
      loadSnapshot: async () => undefined,
      read: (seq: number) => journal.read(seq),
    };
    await expect(recover(broken)).rejects.toBeInstanceOf(JournalDamaged);
  });
});
