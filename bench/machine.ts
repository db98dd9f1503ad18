/** How busy other programs keep the machine. Works on Linux only; elsewhere it returns 0. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

const tickMs = 10;

/** How long the process has used a processor. */
export function processorMs(process: number | undefined): number {
  if (process === undefined || !existsSync("/proc/stat")) return 0;
  return ticksOf(process) * tickMs;
}

/** The same with its children, those that run and those that have exited. */
export function familyProcessorMs(process: number | undefined): number {
  if (process === undefined || !existsSync("/proc/stat")) return 0;
  const children = readdirSync("/proc").filter((name) => parentOf(name) === process);
  return [process, ...children.map(Number)].reduce((sum, pid) => sum + processorMs(pid), 0);
}

/** Undefined: it is no process, or has ended. */
function parentOf(name: string): number | undefined {
  if (!/^\d+$/.test(name)) return undefined;
  try {
    return Number(statOf(name)[1]);
  } catch {
    return undefined;
  }
}

/** In ticks since the machine started. */
interface Ticks {
  readonly all: number;
  readonly idle: number;
  readonly ours: number;
}

/**
 * Starts to count. The returned function returns the share of the machine that others used since.
 */
export function countOthers(children: readonly (number | undefined)[]): () => number {
  if (!existsSync("/proc/stat")) return () => 0;
  const before = ticks(children);
  return () => {
    const now = ticks(children);
    const all = now.all - before.all;
    const busy = all - (now.idle - before.idle);
    return all === 0 ? 0 : Math.max(0, busy - (now.ours - before.ours)) / all;
  };
}

function ticks(children: readonly (number | undefined)[]): Ticks {
  const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const spent = first.split(/ +/).slice(1, 9).map(Number);
  const [, , , idle = 0, waiting = 0] = spent;
  let ours = ticksOf("self");
  for (const pid of children) if (pid !== undefined) ours += ticksOf(pid);
  return { all: spent.reduce((sum, part) => sum + part, 0), idle: idle + waiting, ours };
}

/**
 * The ticks of the process and of its children that have exited. The name, in brackets, may contain
 * any character.
 */
function ticksOf(process: number | "self"): number {
  return statOf(String(process))
    .slice(11, 15)
    .reduce((sum, part) => sum + Number(part), 0);
}

function statOf(process: string): string[] {
  return readFileSync(`/proc/${process}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
}
