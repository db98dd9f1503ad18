import type { HeldLease } from "../../client/berth-client.ts";
import { LeaseLost } from "../../client/errors.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { clientLimits } from "../../client/limits.ts";
import { parseDuration, roughDuration } from "../../core/model/duration.ts";
import type { Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { plain } from "../terminal/text.ts";
import { CommandProcess } from "./command-process.ts";
import { HeartbeatLog } from "./heartbeat-log.ts";
import { writeLeaseFile } from "./lease-file.ts";
import { leaseVariables } from "./lease-variables.ts";
import type { RunFlags } from "./run.ts";
import type { Beside } from "./sidecar.ts";
import { isEnding, type SignalDesk, type SignalName } from "./signals.ts";

export const graceMsDefault = 30_000;

/** What the command is told beside its lease, and how to start what runs beside it. */
export interface RunningJob {
  readonly variables: Readonly<Record<string, string>>;
  readonly start: (region: string | undefined) => Promise<Beside>;
}

/** Keeps the lease alive while the command runs, and gives it back however that ends. */
export async function runHolding(
  context: Context,
  lease: HeldLease,
  name: string,
  desk: SignalDesk,
  job: RunningJob,
): Promise<number> {
  const { client, note, args } = context;
  const { grace: graceMs = graceMsDefault, failOpen = false } = context.flags<RunFlags>();
  const log = new HeartbeatLog(note, parseDuration(lease.ttl ?? "") ?? 0);
  const alive = client.keepAlive(lease, { marginMs: graceMs, ...log.listeners });
  let ended = false;
  let beside: Beside | undefined;
  try {
    const file = await writeLeaseFile(lease, client.url);
    try {
      await alive.confirmed;
      const gone: unknown = alive.signal.reason;
      if (gone instanceof LeaseLost && gone.why === "ended") {
        ended = true;
        note(`berth: LEASE LOST. ${plain(gone.message)}; ${name} is not started`);
        return exitCodes.leaseLost;
      }
      beside = await job.start(job.variables["LEASED_RESOURCE"]);
      const variables = { ...leaseVariables(lease, client.url), BERTH_LEASE_FILE: file.path };
      const env = { ...process.env, ...variables, ...job.variables, ...beside.variables };
      const child = await CommandProcess.start(args, env, beside.watch([lease]));
      desk.handTo((signal) => passOn(child, signal));
      const loss = await endOrLoss(child, alive, failOpen, note);
      if (loss === undefined) return await child.ended;
      ended = loss.why === "ended";
      note(`berth: LEASE LOST. ${plain(loss.message)}; stopping ${name}`);
      await child.stop(graceAfter(loss, graceMs, alive.leftMs));
      return exitCodes.leaseLost;
    } finally {
      await file.remove();
    }
  } finally {
    const enough = untilEnough(desk);
    await beside?.close(enough);
    alive.stop();
    if (!ended) await giveBack(context, lease, name, alive, enough);
    desk.close();
  }
}

/** Who sends another signal while things are given back does not want to wait for it. */
function untilEnough(desk: SignalDesk): AbortSignal {
  const enough = new AbortController();
  desk.handTo((signal) => {
    if (isEnding(signal)) enough.abort(new Error("a signal ended it"));
  });
  return enough.signal;
}

/** An expired resource rests for 15s before somebody else gets it, unless its pool says otherwise. */
const graceMsAfterEnd = 10_000;

/** A command has no more time to end than the lease has left, or than the resource rests. */
export function graceAfter(loss: LeaseLost, graceMs: number, leftMs: number): number {
  return Math.min(graceMs, loss.why === "ended" ? graceMsAfterEnd : Math.max(leftMs, 0));
}

/** Undefined when the command ended by itself. Failing open, only the server's own word is a loss. */
export function endOrLoss(
  child: CommandProcess,
  { signal }: Pick<KeepAlive, "signal">,
  failOpen: boolean,
  note: (text: string) => void,
): Promise<LeaseLost | undefined> {
  return new Promise((resolve) => {
    void child.ended.then(() => resolve(undefined));
    const lost = () => {
      const loss: unknown = signal.reason;
      if (!(loss instanceof LeaseLost)) return;
      if (failOpen && loss.why === "silence") {
        note(`berth: ${plain(loss.message)}; GOING ON WITHOUT A LEASE, as --fail-open says`);
      } else resolve(loss);
    };
    if (signal.aborted) lost();
    else signal.addEventListener("abort", lost, { once: true });
  });
}

export function passOn(child: CommandProcess, signal: SignalName): void {
  child.signal(signal);
  // Ctrl-Z stops both, or the command would go on while nobody sends heartbeats for it.
  if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP");
}

async function giveBack(
  { client, note }: Context,
  lease: HeldLease,
  name: string,
  alive: KeepAlive,
  signal: AbortSignal,
): Promise<void> {
  // What the server took back by itself, at the end of its hold, is no longer ours to give.
  const held = lease.claims.filter(
    ({ heldUntil }) => heldUntil === null || Date.parse(heldUntil) > Date.now(),
  );
  const resources = held.map(({ resource }) => resource).join(" ");
  note(plain(`Releasing leases for test ${name}: [${resources}]`));
  try {
    // Beyond the lease's own end there is nothing left to give back.
    const forMs = Math.min(clientLimits.releaseMs, Math.max(alive.leftMs, 0));
    await client.release(lease, { signal, forMs });
  } catch (error) {
    const why = plain(error instanceof Error ? error.message : String(error));
    const leftMs = Math.max(0, alive.leftMs);
    const at = new Date(Date.now() + leftMs).toISOString();
    note(`berth: Cannot give lease ${lease.id} back: ${why}`);
    note(`  It will come back by itself at ${at}, in ${roughDuration(leftMs)} at the latest`);
  }
}

/** Without a lease of its own; what an outer `berth run` has told of its lease is not ours. */
export async function runWithout(
  { args }: Context,
  desk: SignalDesk,
  beside: Beside,
  more: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { BERTH_LEASE_ID: _id, BERTH_TOKEN: _token, BERTH_LEASE_FILE: _file, ...env } = process.env;
  try {
    const all = { ...env, ...beside.variables, ...more };
    const child = await CommandProcess.start(args, all, beside.watch([]));
    desk.handTo((signal) => passOn(child, signal));
    return await child.ended;
  } finally {
    await beside.close(untilEnough(desk));
    desk.close();
  }
}
