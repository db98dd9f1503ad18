/** How long a server needs until it answers, on a journal of a million events. */
import { join } from "node:path";
import { Broker } from "../src/broker/broker.ts";
import { SystemEnvironment } from "../src/broker/environment.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy } from "../src/core/model/policy.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import { scratchFolder, startBerth } from "./process.ts";

export interface RestartRow {
  readonly events: number;
  readonly replayed: number;
  readonly seconds: number;
}

const pool = "quota" as PoolName;
const size = 200;
const config = `pools: { ${pool}: { count: ${size} } }`;

/**
 * A real broker writes the journal and is not closed, as in a crash: no snapshot covers the last
 * events.
 */
export async function benchRestart(events: number): Promise<RestartRow> {
  const folder = scratchFolder();
  try {
    const replayed = await fill(join(folder.path, "data"), events);
    const startedAt = performance.now();
    const berth = await startBerth(folder.path, config);
    const reply = await fetch(`http://127.0.0.1:${berth.port}/v1/pools`);
    await reply.text();
    const seconds = (performance.now() - startedAt) / 1_000;
    await berth.stop();
    return { events, replayed, seconds };
  } finally {
    folder.remove();
  }
}

async function fill(data: string, events: number): Promise<number> {
  const journal = SqliteJournal.open(data);
  const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
  const members = Array.from({ length: size }, (_, index) => ({
    name: `${pool}-${index + 1}` as ResourceName,
    labels: {},
  }));
  await broker.submit({
    type: "configure",
    pools: [{ name: pool, policy: defaultPolicy, members }],
  });
  let count = 0;
  let lastSnapshot = 0;
  while (broker.head < events) {
    const ids = Array.from({ length: 100 }, () => `r${count++}` as RequestId);
    const ask = { holder: "bench/1", items: [{ pool, count: 1 }] };
    await Promise.all(ids.map((id) => broker.submit({ type: "acquire", id, ask, waitMs: 0 })));
    await Promise.all(ids.map((id) => broker.submit({ type: "release", id })));
  }
  lastSnapshot = (await journal.loadSnapshot())?.seq ?? 0;
  const replayed = broker.head - lastSnapshot;
  await journal.close(); // The broker is not closed: that would take a last snapshot.
  return replayed;
}
