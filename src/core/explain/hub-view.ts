/** The public view of a hub: plain data with names, without references. */
import { failureRateOf, roomOn } from "../clusters/placement.ts";
import type { Reason } from "../model/command.ts";
import { type Hub, type HubFindings, type HubState, hubStateOf } from "../model/hub.ts";
import type { PoolName } from "../model/ids.ts";
import { freeState, hibernatedState } from "../model/lifecycle.ts";
import type { Instant } from "../model/time.ts";

export interface HubView {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly limit: number | null;
  /** What the configuration and operators say; `unreachable` goes before it. */
  readonly state: HubState | "unreachable";
  readonly setState: HubState;
  readonly set: { readonly at: Instant; readonly reason: Reason } | null;
  readonly outage: Hub["outage"];
  readonly isProbed: boolean;
  readonly findings: HubFindings;
  /** Kinds that its pools need and that it does not serve. */
  readonly missingKinds: readonly string[];
  readonly isRetired: boolean;
  readonly pools: readonly PoolName[];
  readonly counts: {
    readonly total: number;
    readonly lent: number;
    /** Idle and usable: free or hibernated. */
    readonly stock: number;
    /** All others: being created, woken, stopped or destroyed, or about to be destroyed. */
    readonly inFlight: number;
    /** By state; together they are `total`. */
    readonly states: Readonly<Record<string, number>>;
  };
  /** How many more may be made on it now; null: no limit. */
  readonly left: number | null;
  readonly failures: { readonly recent: number; readonly of: number; readonly rate: number };
}

export function hubView(hub: Hub, now: Instant): HubView {
  const setState = hubStateOf(hub);
  const { creations } = hub;
  return {
    name: hub.name,
    labels: hub.spec.labels,
    limit: hub.spec.limit ?? null,
    state: hub.outage === null ? setState : "unreachable",
    setState,
    set: hub.set && { at: hub.set.at, reason: hub.set.reason },
    outage: hub.outage,
    isProbed: hub.findings !== null,
    findings: hub.findings ?? {},
    missingKinds: missingKindsOf(hub),
    isRetired: hub.retired,
    pools: Array.from(hub.pools, ({ name }) => name).sort(),
    counts: countsOf(hub),
    left: leftOn(hub),
    failures: {
      recent: creations.filter(({ failed }) => failed).length,
      of: creations.length,
      rate: failureRateOf(hub, now),
    },
  };
}

function missingKindsOf({ findings, pools }: Hub): string[] {
  const served = findings?.kinds;
  if (served === undefined) return [];
  const needed = Array.from(pools, ({ policy }) => policy.cluster?.needs ?? []).flat();
  return [...new Set(needed)].filter((kind) => !served.includes(kind)).sort();
}

function countsOf({ clusters }: Hub): HubView["counts"] {
  let [lent, stock, inFlight] = [0, 0, 0];
  const states: Record<string, number> = {};
  for (const { claim, state } of clusters) {
    states[state] = (states[state] ?? 0) + 1;
    if (claim?.purpose === "use") lent += 1;
    else if (state === freeState || state === hibernatedState) stock += 1;
    else inFlight += 1;
  }
  return { total: clusters.size, lent, stock, inFlight, states };
}

function leftOn(hub: Hub): number | null {
  if (hubStateOf(hub) !== "active" || hub.outage !== null) return 0;
  return hub.spec.limit === undefined ? null : roomOn(hub);
}
