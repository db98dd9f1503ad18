/** The common flags of the slot commands: which slots, on which cluster, and the holder. */
import { hostname } from "node:os";
import type { Option } from "commander";
import { slotLimits } from "../../slots/limits.ts";
import { type Holder, identityOf, type SlotSet } from "../../slots/slot.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { duration, fromEnvironment, matching, type Parse, wholeNumber } from "../values.ts";

export interface KubeFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export interface SetFlags extends KubeFlags {
  readonly prefix?: string;
  readonly app?: string;
  readonly slots?: number;
}

export interface HolderFlags {
  readonly suffix?: string;
  readonly runId?: string;
}

export interface TermFlags {
  readonly leaseDuration?: number;
  readonly timeout?: number;
  readonly turn?: number;
}

const usualPrefix = "berth-slot";
const usualApp = "berth-slots";

/** The Kubernetes rule for names and label values. */
const label = matching(
  /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  63,
  "lower-case letters, digits and -, a letter or digit at both ends",
);
const runId = matching(/^[A-Za-z0-9._/-]+$/, 128, "letters, digits and ._/-");
const slotCount = wholeNumber(1, slotLimits.slotsMax);
export const slotId = wholeNumber(0, slotLimits.slotsMax - 1);
const seconds = wholeNumber(slotLimits.durationSecondsMin, slotLimits.durationSecondsMax);

export function kubeOptions(): Option[] {
  return [
    flag("--kubeconfig <file>", "kubeconfig ($KUBECONFIG, ~/.kube/config, or the pod's account)"),
    flag("--context <name>", "context of the kubeconfig"),
    flag(
      "-n, --namespace <name>",
      "namespace of the Leases ($SLOT_NAMESPACE, else $NAMESPACE, else clusters)",
      label,
    ),
  ];
}

export function setOptions(): Option[] {
  return [
    ...kubeOptions(),
    flag("--slots <n>", "number of slots ($MAX_SLOTS, else 6)", slotCount),
    flag(
      "--prefix <name>",
      `slot 3 is the Lease NAME-3 ($SLOT_PREFIX, else $LEASE_PREFIX, else ${usualPrefix})`,
      label,
    ),
    flag("--app <label>", `label app of every slot ($SLOT_APP, else ${usualApp})`, label),
  ];
}

export function holderOptions(): Option[] {
  return [
    flag("--suffix <name>", "name of your work, such as pr12 ($CLUSTER_SUFFIX)", label),
    flag("--run-id <id>", "id of this run ($GITHUB_RUN_ID, else this shell)", runId),
  ];
}

export function termOptions(usual: string): Option[] {
  const shortest = { minMs: slotLimits.durationSecondsMin * 1_000 };
  return [
    flag(
      "--lease-duration <duration>",
      `the slot expires after this time without a renewal ($LEASE_DURATION_SECONDS, else ${usual})`,
      duration({ ...shortest, maxMs: slotLimits.durationSecondsMax * 1_000 }),
    ),
    flag(
      "--timeout <duration>",
      "leave the queue and exit 75 after this time ($SLOT_TIMEOUT in minutes, else 60m)",
      duration(),
    ),
    flag(
      "--turn <duration>",
      "skip the first in the queue if it does not take a free slot in this time; default 15s",
      duration({ minMs: 1_000 }),
    ),
  ];
}

export function slotSetOf({ namespace, prefix, app, slots }: SetFlags): SlotSet {
  return {
    namespace: namespace ?? namespaceOf({}),
    prefix: prefix ?? firstSet("SLOT_PREFIX", "LEASE_PREFIX") ?? usualPrefix,
    app: app ?? fromEnvironment("SLOT_APP", label) ?? usualApp,
    count: slots ?? fromEnvironment("MAX_SLOTS", slotCount) ?? 6,
  };
}

export function namespaceOf({ namespace }: KubeFlags): string {
  return namespace ?? firstSet("SLOT_NAMESPACE", "NAMESPACE") ?? "clusters";
}

/** Berth's own variable wins over that of the scripts, which may mean something else in a job. */
function firstSet(own: string, ofScripts: string): string | undefined {
  return fromEnvironment(own, label) ?? fromEnvironment(ofScripts, label);
}

/** Outside of CI, the process id identifies the run: by default that of the shell. */
export function holderFrom(flags: HolderFlags, pid: number = process.ppid): Holder {
  const local = () => `local-${hostname().replace(/[^A-Za-z0-9.-]/g, "-")}-${pid}`;
  return {
    suffix: flags.suffix ?? fromEnvironment("CLUSTER_SUFFIX", label) ?? "unknown",
    runId: flags.runId ?? fromEnvironment("GITHUB_RUN_ID", runId) ?? local(),
  };
}

/** Cloud roles are named after the cluster, and their names have at most this length. */
const clusterNameMax = 32;

/** Throws if the cluster's name would be too long. Callers check this before the wait. */
export function refuseLongName({ suffix }: Holder): void {
  const tag = fromEnvironment("MANAGED_BY_TAG", label);
  const name = `${tag}-${suffix}`;
  if (tag === undefined || name.length <= clusterNameMax) return;
  const state = `the cluster "${name}" would have ${name.length} characters`;
  const hint = `Use a shorter one: cloud roles take ${clusterNameMax}`;
  throw usageError(`Cannot use the suffix "${suffix}": ${state}`, hint);
}

export function identityFrom(flags: HolderFlags, pid?: number): string {
  return identityOf(holderFrom(flags, pid));
}

export function durationSecondsOf({ leaseDuration }: TermFlags, usually: number): number {
  const given = leaseDuration === undefined ? undefined : Math.round(leaseDuration / 1_000);
  return given ?? fromEnvironment("LEASE_DURATION_SECONDS", seconds) ?? usually;
}

export function timeoutMsOf({ timeout }: TermFlags): number {
  const minutes = fromEnvironment("SLOT_TIMEOUT", wholeNumber(0, 7 * 24 * 60)) ?? 60;
  return timeout ?? minutes * 60_000;
}

/** Parses the argument `[slot]`. */
export function slotArgument(text: string | undefined, parse: Parse<number> = slotId) {
  if (text === undefined || text === "") return undefined; // An earlier CI step may set it empty.
  try {
    return parse(text);
  } catch {
    const hint = "Use the number from berth slots acquire; list slots: berth slots status";
    throw usageError(`Cannot use "${text}" as a slot: it is not a slot number`, hint);
  }
}
