import { isEligible, mayGoTo, type NodeObject } from "./nodes.ts";
import {
  type Amount,
  amountOf,
  nothing,
  type PodObject,
  plus,
  requestsOf,
  type Toleration,
  times,
} from "./pod-requests.ts";

export interface AutoscalerObject {
  readonly spec?: { readonly maxReplicas?: number };
}

export interface QuotaState {
  readonly name: string;
  readonly hard: number;
  readonly used: number;
}

/** The input of the analysis: the state of the cluster at one moment. */
export interface CapacityFacts {
  readonly nodes: readonly NodeObject[];
  /** The pods of all namespaces that have not finished. */
  readonly pods: readonly PodObject[];
  readonly autoscalers: readonly AutoscalerObject[];
  /** The number of clusters, including those that are being deleted, without the caller's own. */
  readonly clusters: number;
  readonly quotas: readonly QuotaState[];
}

export interface CapacityRequirements {
  readonly need: Amount;
  /** The need is multiplied by this factor. */
  readonly margin: number;
  /**
   * The usable share of the capacity. At most 1, because the scheduler does not overcommit
   * requests.
   */
  readonly share: number;
  readonly clustersMax: number;
  readonly tolerations: readonly Toleration[];
}

export const mebibyte = 2 ** 20;
/** The default need of one cluster, in millicores and mebibytes. */
export const defaultNeed = { cpu: 3_000, memory: 12_000 } as const;

export function needOf({ cpu, memory }: { readonly cpu: number; readonly memory: number }): Amount {
  return { cpu: cpu / 1_000, memory: memory * mebibyte };
}

export function cpuText({ cpu }: Amount): string {
  return `${Math.round(cpu * 1_000)}m`;
}

export function memoryText({ memory }: Amount): string {
  return `${Math.round(memory / mebibyte)}Mi`;
}

export interface CapacityAnalysis {
  readonly enough: boolean;
  /** The reasons why the capacity is too small; empty if it is enough. */
  readonly reasons: readonly string[];
  readonly workers: { readonly now: number; readonly max: number };
  readonly allocatable: Amount;
  /** The capacity that the autoscaler can add. It is counted only here. */
  readonly headroom: Amount;
  readonly requested: Amount;
  readonly pendingPods: number;
  readonly remaining: Amount;
  readonly needed: Amount;
  readonly clusters: { readonly now: number; readonly max: number };
  readonly quotas: readonly QuotaState[];
}

export function analyse(
  facts: CapacityFacts,
  requirements: CapacityRequirements,
): CapacityAnalysis {
  const workers = facts.nodes.filter((node) => isEligible(node, requirements.tolerations));
  const allocatable = workers
    .map(({ status }) => amountOf(status?.allocatable))
    .reduce(plus, nothing);
  const ceiling = facts.autoscalers.reduce((sum, { spec }) => sum + (spec?.maxReplicas ?? 0), 0);
  const max = Math.max(workers.length, ceiling);
  const each = workers.length === 0 ? nothing : times(allocatable, 1 / workers.length);
  const headroom = times(each, max - workers.length);
  const { requested, pendingPods } = demandOn(workers, facts.pods);
  const total = times(plus(allocatable, headroom), Math.min(1, requirements.share));
  const remaining = plus(total, times(requested, -1));
  const needed = times(requirements.need, requirements.margin);
  const clusters = { now: facts.clusters, max: requirements.clustersMax };
  const found = {
    workers: { now: workers.length, max },
    ...{ allocatable, headroom, requested, pendingPods, remaining, needed, clusters },
    quotas: facts.quotas,
  };
  const reasons = reasonsOf(found);
  return { enough: reasons.length === 0, reasons, ...found };
}

/**
 * The requests of the pods on our workers, and of the pending pods that could run on one of them.
 */
function demandOn(workers: readonly NodeObject[], pods: readonly PodObject[]) {
  const names = new Set(workers.map(({ metadata }) => metadata.name));
  const alive = pods.filter(({ status }) => !["Succeeded", "Failed"].includes(status?.phase ?? ""));
  const here = alive.filter(({ spec }) => names.has(spec?.nodeName ?? ""));
  const pending = alive
    .filter(({ spec }) => (spec?.nodeName ?? "") === "")
    .filter(({ spec }) => workers.some((node) => mayGoTo(node, spec ?? {})));
  const requested = [...here, ...pending].map(requestsOf).reduce(plus, nothing);
  return { requested, pendingPods: pending.length };
}

function reasonsOf({
  workers,
  remaining,
  needed,
  clusters,
  quotas,
}: Omit<CapacityAnalysis, "enough" | "reasons">): string[] {
  const reasons: string[] = [];
  if (workers.now === 0) reasons.push("there is no worker that new pods may go to");
  const short = (what: string, text: (amount: Amount) => string) =>
    `too little ${what} remains: ${text(needed)} needed, ${text(remaining)} free`;
  if (remaining.cpu < needed.cpu) reasons.push(short("CPU", cpuText));
  if (remaining.memory < needed.memory) reasons.push(short("memory", memoryText));
  if (clusters.now >= clusters.max) {
    reasons.push(`there are ${clusters.now} clusters, and ${clusters.max} is the limit`);
  }
  for (const { name, used, hard } of quotas) {
    if (used >= hard) reasons.push(`quota ${name} is used up: ${used} of ${hard}`);
  }
  return reasons;
}
