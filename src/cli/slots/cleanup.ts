import { spawn } from "node:child_process";
import { once } from "node:events";
import { Option } from "commander";
import { type ClusterObject, suffixOf } from "../../kubernetes/clusters.ts";
import type { LeaseObject } from "../../kubernetes/kube-objects.ts";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import type { OrphanRule } from "../../slots/cleanup.ts";
import { slotLimits } from "../../slots/limits.ts";
import type { SlotSet } from "../../slots/slot.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { formatAge } from "../show/age.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import { type ClusterFlags, clusterKindOf, clusterOptions } from "./clusters.ts";
import { type SetFlags, setOptions, slotSetOf } from "./flags.ts";
import { leaseStoreOf } from "./store.ts";

interface Flags extends SetFlags, ClusterFlags {
  readonly orphanGrace?: number;
  readonly destroy?: string;
  readonly deleteClusters?: boolean;
  readonly dryRun?: boolean;
}

export const slotsCleanup: CliCommand = {
  options: [
    ...setOptions(),
    ...clusterOptions(),
    flag("--orphan-grace <duration>", "ignore younger clusters; default 30m", duration()),
    flag("--destroy <command>", "run this with sh for each cluster without a slot"),
    new Option("--delete-clusters", "delete the objects of clusters without a slot"),
    new Option("--dry-run", "print what would be done, and change nothing"),
  ],
  help: `
Removes expired slots and abandoned queue tickets, each only if it has not changed since it was read.
Lists clusters without a slot, and destroys them with --destroy or --delete-clusters. Environment of
the --destroy command: BERTH_CLUSTER, BERTH_CLUSTER_NAMESPACE, BERTH_CLUSTER_UID, CLUSTER_SUFFIX.
Exits 79 if a cluster without a slot is left.`,
  async run(context) {
    const flags = context.flags<Flags>();
    if (flags.destroy !== undefined && flags.deleteClusters) {
      const hint = "Remove one of them";
      throw usageError("Cannot use --destroy with --delete-clusters", hint);
    }
    const set = slotSetOf(flags);
    const graceMs = flags.orphanGrace ?? slotLimits.orphanGraceMs;
    const rule = { kind: clusterKindOf(flags), graceMs };
    const store = await leaseStoreOf(flags);
    const work = { context, store, set, rule };
    const { findLeftovers } = await import("../../slots/cleanup.ts");
    const { slots, tickets, orphans } = await findLeftovers(store, set, rule);
    for (const lease of slots) await remove(work, lease, "expired slot");
    for (const lease of tickets) await remove(work, lease, "place in line");
    let left = 0;
    for (const cluster of orphans) if (!(await destroyOrphan(work, cluster))) left += 1;
    if (slots.length + tickets.length + orphans.length === 0)
      context.note("There is nothing to do");
    return left === 0 ? exitCodes.ok : exitCodes.unfinished;
  },
};

interface Work {
  readonly context: Context;
  readonly store: LeaseStore;
  readonly set: SlotSet;
  readonly rule: OrphanRule;
}

async function remove({ context, store }: Work, lease: LeaseObject, what: string): Promise<void> {
  const { flags, print } = context;
  const description = plain(
    `${what} ${lease.metadata.name} of ${lease.spec?.holderIdentity ?? "nobody"}`,
  );
  if (flags<Flags>().dryRun) return print(`Would remove ${description}`);
  const { removeIfUnchanged } = await import("../../slots/cleanup.ts");
  const outcome = await removeIfUnchanged(store, lease);
  print(
    outcome === "removed"
      ? `Removed ${description}`
      : `Kept ${description}: it has changed meanwhile`,
  );
}

/** Returns false if the cluster still exists. Reads it again first: the last one may take an hour. */
async function destroyOrphan(work: Work, seen: ClusterObject): Promise<boolean> {
  const { context, store, set, rule } = work;
  const { destroy, deleteClusters, dryRun } = context.flags<Flags>();
  const { name, creationTimestamp = "", uid } = seen.metadata;
  const age = formatAge(creationTimestamp, store.api.clock.atLeastMs());
  const description = plain(`cluster ${name}, which has no slot and is ${age} old`);
  if (destroy === undefined && !deleteClusters) {
    context.print(`Found ${description}`);
    return false;
  }
  if (dryRun) {
    context.print(`Would destroy ${description}`);
    return false;
  }
  const { deleteCluster, findLeftovers } = await import("../../slots/cleanup.ts");
  const { orphans } = await findLeftovers(store, set, rule);
  const cluster = orphans.find(({ metadata }) => metadata.uid === uid);
  if (cluster === undefined) {
    context.print(plain(`Kept cluster ${name}: it has changed meanwhile`));
    return true;
  }
  if (destroy !== undefined) return runDestroy(work, cluster, destroy);
  const outcome = await deleteCluster(store, rule.kind, cluster);
  const kept = plain(`Kept cluster ${name}: it has changed meanwhile`);
  context.print(outcome === "removed" ? `Deleted ${description}` : kept);
  return outcome === "removed";
}

async function runDestroy(
  { context, rule }: Work,
  cluster: ClusterObject,
  command: string,
): Promise<boolean> {
  const { name, uid } = cluster.metadata;
  context.print(plain(`Destroying cluster ${name}`));
  const env = {
    ...process.env,
    BERTH_CLUSTER: name,
    BERTH_CLUSTER_NAMESPACE: rule.kind.namespace,
    BERTH_CLUSTER_UID: uid,
    CLUSTER_SUFFIX: suffixOf(rule.kind, cluster),
  };
  const child = spawn("sh", ["-c", command], { stdio: "inherit", env });
  const [code] = await once(child, "exit");
  if (code !== 0) context.note(plain(`berth: Cannot destroy cluster ${name}: the command failed`));
  return code === 0;
}
