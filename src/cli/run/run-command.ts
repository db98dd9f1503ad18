import type { HeldLease } from "../../client/berth-client.ts";
import { LeaseLost } from "../../client/errors.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { clientLimits } from "../../client/limits.ts";
import { parseDuration, roughDuration } from "../../core/model/time.ts";
import type { Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { plain } from "../terminal/text.ts";
import { ClusterFiles } from "./cluster-access.ts";
import { CommandProcess } from "./command-process.ts";
import { type FailOpen, failOpenOf } from "./fail-open.ts";
import { HeartbeatLog } from "./heartbeat-log.ts";
import { writeLeaseFile } from "./lease-file.ts";
import { leaseVariables } from "./lease-variables.ts";
import { NoticeToCommand } from "./notice.ts";
import type { RunFlags } from "./run.ts";
import type { Sidecar } from "./sidecar.ts";
import { isTerminating, type SignalName, type SignalRouter } from "./signals.ts";

export const graceMsDefault = 30_000;

/** The variables that the job's plan sets, and how to start the sidecar for it. */
export interface JobSetup {
  readonly variables: Readonly<Record<string, string>>;
  readonly startSidecar: (region: string | undefined) => Promise<Sidecar>;
}

/** Sends heartbeats while the command runs, and releases the lease when the command has exited. */
export async function runWithLease(
  context: Context,
  lease: HeldLease,
  name: string,
  router: SignalRouter,
  job: JobSetup,
): Promise<number> {
  const { client, note, args } = context;
  const flags = context.flags<RunFlags>();
  const { grace: graceMs = graceMsDefault } = flags;
  const failOpen = failOpenOf(flags);
  const log = new HeartbeatLog(note, parseDuration(lease.ttl ?? "") ?? 0);
  const notice = new NoticeToCommand(note, name);
  const onNotice = notice.given;
  const keepAlive = client.keepAlive(lease, { marginMs: graceMs, ...log.listeners, onNotice });
  let isLost = false;
  let releaseMs: number = clientLimits.releaseMs;
  let sidecar: Sidecar | undefined;
  let clusters: ClusterFiles | undefined;
  let code: number = exitCodes.leaseLost;
  try {
    const file = await writeLeaseFile(lease, client.url);
    try {
      await keepAlive.confirmed;
      const earlyLoss: unknown = keepAlive.signal.reason;
      const isEnded = earlyLoss instanceof LeaseLost && earlyLoss.why === "ended";
      if (isEnded && failOpen !== "always") {
        isLost = true;
        note(`berth: LEASE LOST. ${plain(earlyLoss.message)}; ${name} is not started`);
        return code;
      }
      clusters = await ClusterFiles.write({ client, lease, leaseFile: file.path, note });
      sidecar = await job.startSidecar(job.variables["LEASED_RESOURCE"]);
      const own = leaseVariables(lease, client.url, flags.tokenFile);
      const variables = { ...own, BERTH_LEASE_FILE: file.path, ...clusters.variables };
      const env = { ...process.env, ...variables, ...job.variables, ...sidecar.variables };
      const child = await CommandProcess.start(args, env, sidecar.watch([lease]));
      router.routeTo((signal) => forwardSignal(child, signal));
      notice.started(child);
      const loss = await exitOrLoss(child, keepAlive, failOpen, note);
      if (loss === undefined) {
        code = await child.exited;
      } else {
        isLost = loss.why === "ended";
        // The server has not answered for a whole ttl, or ends it by itself: one more try is enough.
        releaseMs = 0;
        note(`berth: LEASE LOST. ${plain(loss.message)}; stopping ${name}`);
        await child.stop(graceAfterLoss(loss, graceMs, keepAlive.leftMs));
      }
    } finally {
      clusters?.close();
      await file.remove();
    }
  } finally {
    const aborted = abortOnNextSignal(router);
    await sidecar?.close(aborted);
    keepAlive.stop();
    if (isLost) await confirmLoss(context, lease, aborted);
    else if (await wasEnded(context, lease, name, { aborted, releaseMs })) {
      if (failOpen === "never" && code !== exitCodes.leaseLost) {
        note(`berth: LEASE LOST before ${name} exited with ${code}. Do not trust its result`);
        code = exitCodes.leaseLost;
      }
    }
    router.close();
  }
  return code;
}

/** A revoked lease keeps its resources until its holder has stopped: this says so. */
async function confirmLoss({ client }: Context, lease: HeldLease, aborted: AbortSignal) {
  const answerMs = clientLimits.pollSlackMs;
  await client.releaseOnce(lease, {}, { signal: aborted, answerMs }).catch(() => {});
}

/** A further signal during the release means that the user does not want to wait for it. */
export function abortOnNextSignal(router: SignalRouter): AbortSignal {
  const controller = new AbortController();
  router.routeTo((signal) => {
    if (isTerminating(signal)) controller.abort(new Error("interrupted by a signal"));
  });
  return controller.signal;
}

/**
 * The grace period after the server ended the lease. It is shorter than the default lock-delay of
 * 15s, in which the pool does not lend the resource again.
 */
const graceMsAfterEnd = 10_000;

/** The command must exit before the lease expires, or before the lock-delay of the resource ends. */
export function graceAfterLoss(loss: LeaseLost, graceMs: number, leftMs: number): number {
  return Math.min(graceMs, loss.why === "ended" ? graceMsAfterEnd : Math.max(leftMs, 0));
}

/**
 * Resolves with undefined when the command has exited, or with the loss of the lease. If the command
 * may run without a lease after an outage, lost contact to the server is not a loss: only the server
 * can end the lease. If it may always, nothing is a loss.
 */
export function exitOrLoss(
  child: CommandProcess,
  { signal: lost }: Pick<KeepAlive, "signal">,
  failOpen: FailOpen,
  note: (text: string) => void,
): Promise<LeaseLost | undefined> {
  return new Promise((resolve) => {
    void child.exited.then(() => resolve(undefined));
    const onLoss = () => {
      const loss: unknown = lost.reason;
      if (!(loss instanceof LeaseLost)) return;
      const continues =
        failOpen === "always" || (failOpen === "outage" && loss.why === "noContact");
      if (continues)
        note(`berth: ${plain(loss.message)}; CONTINUING WITHOUT A LEASE (--fail-open)`);
      else resolve(loss);
    };
    if (lost.aborted) onLoss();
    else lost.addEventListener("abort", onLoss, { once: true });
  });
}

export function forwardSignal(child: CommandProcess, signal: SignalName): void {
  child.signal(signal);
  // Ctrl-Z stops the command and us. If only we stopped, the command would run without heartbeats.
  if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP");
}

/** Releases the lease. Returns true if it had ended before, so that the command ran without it. */
async function wasEnded(
  { client, note }: Context,
  lease: HeldLease,
  name: string,
  { aborted, releaseMs: forMs }: { readonly aborted: AbortSignal; readonly releaseMs: number },
): Promise<boolean> {
  // The release is for the whole lease. Only the log line leaves out the resources that the server
  // has already released at the end of their hold time.
  const held = lease.claims.filter(
    ({ heldUntil }) => heldUntil === null || Date.parse(heldUntil) > Date.now(),
  );
  const resources = held.map(({ resource }) => resource).join(" ");
  note(plain(`Releasing leases for test ${name}: [${resources}]`));
  let isTold = false;
  const onRetry = (error: Error) => {
    if (!isTold) note(`berth: ${plain(error.message)}; trying for ${roughDuration(forMs)} more`);
    isTold = true;
  };
  try {
    // Also when the ttl is over: after a restart the server gives every lease a full ttl again.
    return (await client.release(lease, { signal: aborted, forMs, onRetry })) === "gone";
  } catch (error) {
    const why = plain(error instanceof Error ? error.message : String(error));
    note(`berth: Cannot release lease ${lease.id}: ${why}`);
    const ttl = lease.ttl === null ? "its ttl" : lease.ttl;
    note(`  It expires ${ttl} after its last heartbeat, or after the server is back`);
    return false;
  }
}

/**
 * Runs the command without a lease. Removes the variables of an outer `berth run`, because its lease
 * is not for this command.
 */
export async function runWithoutLease(
  { args }: Context,
  router: SignalRouter,
  sidecar: Sidecar,
  extraVariables: Readonly<Record<string, string>> = {},
): Promise<number> {
  const {
    BERTH_LEASE_ID: _id,
    BERTH_LEASE_FILE: _file,
    BERTH_LEASE_TOKEN: outer,
    ...rest
  } = process.env;
  const { BERTH_TOKEN: token, ...withoutToken } = rest;
  const env = _id === undefined || (outer ?? token) !== token ? rest : withoutToken;
  try {
    const variables = { ...env, ...sidecar.variables, ...extraVariables };
    const child = await CommandProcess.start(args, variables, sidecar.watch([]));
    router.routeTo((signal) => forwardSignal(child, signal));
    return await child.exited;
  } finally {
    await sidecar.close(abortOnNextSignal(router));
    router.close();
  }
}
