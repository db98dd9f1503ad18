import type * as Wire from "../../api/schemas.ts";
import type { Reader } from "../../core/explain/out-of-use.ts";
import type { LimitUse, PlacementView, PoolView } from "../../core/explain/pool-view.ts";
import { inWords } from "../../core/model/fields.ts";
import type { PoolPolicy } from "../../core/model/policy.ts";
import { policyFields } from "../../core/model/policy-fields.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Context } from "../context.ts";
import { timestamp } from "../timestamp.ts";
import { renderAdmission } from "./admission.ts";
import { renderFlow } from "./flow.ts";
import { seconds } from "./lease.ts";

type Sources = Pick<Context, "admission" | "insight">;

export function renderPool(
  pool: PoolView,
  now: Instant,
  { admission, insight }: Sources,
  reader: Reader,
): Wire.Pool {
  const { oldestQueuedAt, meanHoldMs, suspended } = pool;
  const usualWaitMs = insight.usualWaits.known.get(pool.name) ?? null;
  return {
    name: pool.name,
    total: pool.total,
    free: pool.free,
    held: pool.held,
    states: { ...pool.states },
    waiting: pool.waiting,
    oldestWaitSeconds: oldestQueuedAt === null ? null : seconds(now - oldestQueuedAt),
    meanHoldSeconds: meanHoldMs === null ? null : seconds(meanHoldMs),
    usualWaitSeconds: usualWaitMs === null ? null : seconds(usualWaitMs),
    retiring: pool.retired,
    suspended: suspended === null ? null : { why: suspended.why, since: timestamp(suspended.at) },
    policy: renderPolicy(pool.policy),
    ...(pool.policy.cluster && { template: pool.policy.cluster.template }),
    flow: renderFlow(pool.flow, reader),
    admission: renderAdmission(pool.admission, admission?.()?.last.get(pool.name)),
    ...renderPlacement(pool.placement),
    ...renderLimit(pool.limit, now),
  };
}

function renderLimit(limit: LimitUse | null, now: Instant): Pick<Wire.Pool, "limit"> | undefined {
  if (limit === null) return undefined;
  const { oldestQueuedAt, ...use } = limit;
  const oldestWaitSeconds = oldestQueuedAt === null ? null : seconds(now - oldestQueuedAt);
  return { limit: { ...use, oldestWaitSeconds } };
}

function renderPlacement(
  placement: PlacementView | null,
): Pick<Wire.Pool, "place" | "usage"> | undefined {
  if (placement === null) return undefined;
  return { place: placement.strategy, usage: [...placement.usage] };
}

/** A policy is never changed, only replaced, and to put one into words takes 10 µs. */
const rendered = new WeakMap<PoolPolicy, Wire.Pool["policy"]>();

function renderPolicy(policy: PoolPolicy): Wire.Pool["policy"] {
  const known = rendered.get(policy);
  if (known !== undefined) return known;
  const words = inWords(policyFields, policy);
  rendered.set(policy, words);
  return words;
}
