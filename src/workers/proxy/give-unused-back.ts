import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JobLeases } from "./job-leases.ts";

/** Often enough for addresses that others would like to have. */
const lookMs = 1_000;

interface Job {
  readonly leases: JobLeases;
  readonly note: (text: string) => void;
}

/** The first so many of them, once the job has written into the shared folder how many those are. */
export async function giveUnusedBack(
  { leases, note }: Job,
  shared: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const file = join(shared, "UNUSED_IP_COUNT");
  const count = await unusedCount(file, names.length, note, signal);
  if (count > 0) note(`there are ${count} unused ip-pool addresses to release`);
  for (const name of names.slice(0, count)) {
    note(`releasing unused ip-pool lease: ${name}`);
    // What cannot be given back now is given back at the end.
    await leases.release(name).catch(() => {});
  }
}

/**
 * Waits until the job has written down how many it does not need, and tells it once. What is no number,
 * or more than there are, is told and ignored.
 */
async function unusedCount(
  file: string,
  held: number,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const text = await written(file, signal);
  if (text === undefined) return 0;
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= held) return count;
  note(`Cannot give ${text.slice(0, 40)} unused ones back: ${held} are held`);
  return 0;
}

async function written(file: string, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const text = (await readFile(file, "utf8").catch(() => "")).trim();
    if (text !== "") return text;
    try {
      await pause(lookMs, undefined, { signal, ref: false });
    } catch {
      return undefined; // The job has ended without a word.
    }
  }
}
