import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JobLeases } from "./job-leases.ts";

const fileName = "UNUSED_IP_COUNT";

/** Other jobs may wait for the addresses, so an unused one is released within seconds. */
const pollIntervalMs = 1_000;

interface Job {
  readonly leases: JobLeases;
  readonly note: (text: string) => void;
}

/**
 * Waits until the job writes a number n to UNUSED_IP_COUNT, then releases the first n leases. The job
 * learns only how many addresses it has (IP_POOL_AVAILABLE) and never which ones, so it can only count
 * the unused ones, and any n leases will do. ci-operator also releases the first n.
 */
export async function releaseUnused(
  { leases, note }: Job,
  shared: string,
  names: readonly string[],
  jobEnd: AbortSignal,
): Promise<void> {
  const text = await readCountFile(join(shared, fileName), jobEnd);
  if (text === undefined) return;
  const count = parseUnusedCount(text, names.length);
  if (count === undefined) {
    note(
      `Cannot release unused leases: ${fileName} is ${quote(text)}, and the job has ${names.length}`,
    );
    return;
  }
  if (count > 0) note(`there are ${count} unused ip-pool addresses to release`);
  for (const name of names.slice(0, count)) {
    note(`releasing unused ip-pool lease: ${name}`);
    // If this release fails, the lease is released when the job ends.
    await leases.release(name).catch(() => {});
  }
}

/** Returns undefined if the text is not a number or is larger than the number of leases. */
export function parseUnusedCount(text: string, leaseCount: number): number | undefined {
  const count = Number(text);
  return /^\d+$/.test(text) && count <= leaseCount ? count : undefined;
}

/** The job wrote this text, so it must not control the terminal. */
export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40)).replaceAll(/[^\x20-\x7e]/g, "?");
}

/**
 * Reads until two reads in a row return the same text that is not empty. The first of them may have
 * met a file that the job was still writing ("1" of "12").
 */
export async function untilStable(
  read: () => Promise<string>,
  wait: () => Promise<void>,
): Promise<string> {
  for (let last = ""; ; await wait()) {
    const text = await read();
    if (text !== "" && text === last) return text;
    last = text;
  }
}

/** Returns undefined if the job ends before it has written the file. */
async function readCountFile(file: string, jobEnd: AbortSignal): Promise<string | undefined> {
  const read = async () => (await readFile(file, "utf8").catch(() => "")).trim();
  const wait = () => pause(pollIntervalMs, undefined, { signal: jobEnd, ref: false });
  try {
    return await untilStable(read, wait);
  } catch (error) {
    if (jobEnd.aborted) return undefined;
    throw error;
  }
}
