import { parseConfig } from "../src/config/parse.ts";
import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import { type DurableEvent, isDurable } from "../src/core/model/event.ts";
import type { State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { Replay } from "../src/insight/what-if/replay.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";

export interface Past {
  /** The leases and requests that are open at its end, and how long holders need them. */
  readonly open: readonly { readonly demand: Demand; readonly grantedAt: number | null }[];
  /** The secret for the tokens of these leases. */
  readonly secret: string;
}

/** Long, because nobody sends heartbeats in the simulated past. */
const ttlMs = 10 * 60_000;
/** As long as the janitor of the demo takes. */
const cleaningMs = 2_500;

const byFile = { way: "config" } as const;

/** Writes a journal as if a server had run until now, with the present rules. */
export async function writePast(
  folder: string,
  config: string,
  demand: readonly Demand[],
  { from, to }: { from: number; to: number },
): Promise<Past> {
  const parsed = parseConfig(config, "the demo's past");
  if (!parsed.ok)
    throw new Error(`Cannot use the demo's pools: ${JSON.stringify(parsed.problems)}`);
  const journal = SqliteJournal.open(folder);
  try {
    const state = emptyState();
    const { spaces, priorities } = parsed;
    const configure = { type: "configure" as const, pools: parsed.pools, spaces, priorities };
    const { events } = decide(state, configure, from as Instant);
    const configured = events.filter(isDurable).map((event) => ({ ...event, from: byFile }));
    await journal.append(0, from as Instant, configured);
    const batch: { at: Instant; events: DurableEvent[] } = { at: from as Instant, events: [] };
    const commits: { at: Instant; events: DurableEvent[] }[] = [];
    const happened = (at: Instant, found: readonly DurableEvent[]) => {
      if (at !== batch.at && batch.events.length > 0) {
        commits.push({ ...batch });
        batch.events = [];
      }
      batch.at = at;
      batch.events.push(...found);
    };
    const replay = new Replay(state, from, { happened, ttlMs, cleaningMs: () => cleaningMs });
    for (const one of demand) {
      replay.passTo(one.askedAt);
      replay.ask(one);
      for (const commit of commits.splice(0)) {
        await journal.append(journal.head, commit.at, commit.events);
      }
    }
    replay.passTo(to);
    happened(to as Instant, endCleanings(state, to as Instant));
    for (const commit of [...commits, batch]) {
      if (commit.events.length > 0) await journal.append(journal.head, commit.at, commit.events);
    }
    const open = Array.from(replay.asked.values(), (one) => ({
      demand: one,
      grantedAt: state.leases.get(one.id as never)?.grantedAt ?? null,
    }));
    return { open, secret: journal.secret };
  } finally {
    await journal.close();
  }
}

/** The cleaners of the past do not go on in the server: without this, what they clean would stay in use for ever. */
function endCleanings(state: State, now: Instant): DurableEvent[] {
  const cleanings = [...state.leases.values()].filter(({ claims }) =>
    claims.some(({ purpose }) => purpose === "clean"),
  );
  return cleanings.flatMap(({ id }) =>
    decide(state, { type: "release", id }, now).events.filter(isDurable),
  );
}
