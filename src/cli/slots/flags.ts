/** What the commands on slots have in common: which slots, on which cluster, and who asks. */
import { hostname } from "node:os";
import type { Option } from "commander";
import { slotLimits } from "../../slots/limits.ts";
import { type Holder, identityOf, type SlotSet } from "../../slots/slot.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { duration, fromEnvironment, matching, type Parse, wholeNumber } from "../values.ts";

export interface PlaceFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export interface SetFlags extends PlaceFlags {
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

/** As Kubernetes has it for a name in a path or a label. */
const label = matching(
  /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  63,
  "lower-case letters, digits and -, a letter or digit at both ends",
);
const runId = matching(/^[A-Za-z0-9._/-]+$/, 128, "letters, digits and ._/-");
const slotCount = wholeNumber(1, slotLimits.slotsMax);
export const slotId = wholeNumber(0, slotLimits.slotsMax - 1);
const seconds = wholeNumber(slotLimits.durationSecondsMin, slotLimits.durationSecondsMax);

export function placeOptions(): Option[] {
  return [
    flag("--kubeconfig <file>", "which cluster ($KUBECONFIG, ~/.kube/config, or the pod's own)"),
    flag("--context <name>", "which context of the kubeconfig"),
    flag("-n, --namespace <name>", "where the Leases are ($SLOT_NAMESPACE, else clusters)", label),
  ];
}

export function setOptions(): Option[] {
  return [
    ...placeOptions(),
    flag("--slots <n>", "how many there are ($MAX_SLOTS, else 6)", slotCount),
    flag("--prefix <name>", "slot 3 is the Lease NAME-3 ($SLOT_PREFIX)", label),
    flag("--app <label>", "the label app of every slot ($SLOT_APP)", label),
  ];
}

export function holderOptions(): Option[] {
  return [
    flag("--suffix <name>", "what you work on, such as pr12 ($CLUSTER_SUFFIX)", label),
    flag("--run-id <id>", "which run of it ($GITHUB_RUN_ID, else this shell)", runId),
  ];
}

export function termOptions(usual: string): Option[] {
  const shortest = { minMs: slotLimits.durationSecondsMin * 1_000 };
  return [
    flag(
      "--lease-duration <duration>",
      `lost after so long without a renewal ($LEASE_DURATION_SECONDS, else ${usual})`,
      duration({ ...shortest, maxMs: slotLimits.durationSecondsMax * 1_000 }),
    ),
    flag(
      "--timeout <duration>",
      "leave the line and exit 75 after so long ($SLOT_TIMEOUT in minutes, else 60m)",
      duration(),
    ),
    flag(
      "--turn <duration>",
      "pass over who is first in line and leaves a free slot alone; 15s unless given",
      duration({ minMs: 1_000 }),
    ),
  ];
}

export function slotSetOf({ namespace, prefix, app, slots }: SetFlags): SlotSet {
  return {
    namespace: namespace ?? namespaceOf({}),
    prefix: prefix ?? fromEnvironment("SLOT_PREFIX", label) ?? "rossoctl-ci-slot",
    app: app ?? fromEnvironment("SLOT_APP", label) ?? "rossoctl-ci",
    count: slots ?? fromEnvironment("MAX_SLOTS", slotCount) ?? 6,
  };
}

export function namespaceOf({ namespace }: PlaceFlags): string {
  return namespace ?? fromEnvironment("SLOT_NAMESPACE", label) ?? "clusters";
}

/** A process of its own is a run of its own; single steps belong to the shell that they are typed in. */
export function holderFrom(flags: HolderFlags, pid: number = process.ppid): Holder {
  const local = () => `local-${hostname().replace(/[^A-Za-z0-9.-]/g, "-")}-${pid}`;
  return {
    suffix: flags.suffix ?? fromEnvironment("CLUSTER_SUFFIX", label) ?? "unknown",
    runId: flags.runId ?? fromEnvironment("GITHUB_RUN_ID", runId) ?? local(),
  };
}

/** Cloud roles are named after the cluster, and their names take no more. */
const clusterNameMax = 32;

/** Found before the wait, not after it, where the tag of the clusters is known. */
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

/** `[slot]` as an argument, checked like every other value. */
export function slotArgument(text: string | undefined, parse: Parse<number> = slotId) {
  if (text === undefined || text === "") return undefined; // An empty output of an earlier step.
  try {
    return parse(text);
  } catch {
    const hint = "Use the number that berth slots acquire printed; see them: berth slots status";
    throw usageError(`Cannot use "${text}" as a slot: it is not one's number`, hint);
  }
}
