/** Clusters and templates as the wire carries them. */
import type * as Wire from "../../api/cluster-schemas.ts";
import { type ClusterView, ownerOfCluster } from "../../core/explain/cluster-view.ts";
import { clusterPlanView } from "../../core/explain/next-steps.ts";
import type { Phase } from "../../core/model/cluster.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import type { Pool } from "../../core/model/state.ts";
import { formatDuration, type Instant } from "../../core/model/time.ts";
import { seconds, timestampOrNull } from "../render/lease.ts";
import { maySee, type Sight, withoutNames } from "../sight.ts";
import { timestamp } from "../timestamp.ts";
import type { TemplateInfo } from "./template-info.ts";

export interface Viewer {
  readonly now: Instant;
  readonly sees: Sight;
  /** The caller's space; undefined: it may see all. */
  readonly only: SpaceName | undefined;
}

/** Of a cluster of another space only what everybody may know: that it exists, and its state. */
export function renderCluster(view: ClusterView, { now, sees, only }: Viewer): Wire.Cluster {
  const shown = maySee(view.owner, only);
  const { lease, hold } = view;
  return {
    name: view.name,
    pool: view.pool,
    instance: view.instance,
    template: view.template,
    revision: view.revision,
    parameters: shown ? { ...view.parameters } : {},
    hub: view.hub,
    state: view.state,
    wanted: view.wanted,
    message: shown ? view.message : "",
    progress: view.progress,
    phase: {
      since: timestamp(view.since),
      seconds: seconds(now - view.since),
      usualSeconds: view.usualMs === null ? null : seconds(view.usualMs),
      samples: view.samples,
      deadlineAt: timestampOrNull(view.deadlineAt),
    },
    plannedAt: timestamp(view.plannedAt),
    ageSeconds: seconds(now - view.plannedAt),
    apiUrl: shown ? view.apiUrl : null,
    version: view.version,
    price: view.price,
    space: shown ? view.space : null,
    stuck: view.stuck === null ? null : shown ? [...view.stuck] : [],
    lost: shown ? view.lost : null,
    hold: hold && {
      by: showsOperator(view.owner, only) ? hold.by : "",
      why: showsOperator(view.owner, only) ? hold.why : "",
      until: timestamp(hold.until),
    },
    failures: view.failures,
    nextTryAt: timestampOrNull(view.nextTryAt),
    lease: lease && renderLease(lease, sees),
  };
}

/** A space learns who keeps its own cluster, but of stock only that it is kept. */
function showsOperator(owner: ClusterView["owner"], only: SpaceName | undefined): boolean {
  return only === undefined || owner === only;
}

function renderLease(lease: NonNullable<ClusterView["lease"]>, sees: Sight) {
  const { id, holder, since } = withoutNames(lease, sees);
  return { id, holder, since: timestamp(since) };
}

export function renderTemplate(
  template: TemplateInfo,
  pools: readonly string[],
  unusable: string | null,
): Wire.Template {
  const { createMs, resumeMs, stopMs, destroyMs } = template.limits;
  return {
    name: template.name,
    driver: template.driver,
    revision: template.revision,
    parameters: { ...template.parameters },
    pinned: [...template.pinned],
    ownCredentials: template.ownCredentials,
    cost: template.cost,
    hibernates: template.hibernates,
    limits: {
      create: formatDuration(createMs),
      resume: formatDuration(resumeMs),
      stop: formatDuration(stopMs),
      destroy: formatDuration(destroyMs),
    },
    pools: [...pools],
    unusable,
  };
}

export function renderPlan(
  pool: Pool,
  now: Instant,
  only: SpaceName | undefined,
): Wire.ClusterPlan | undefined {
  const view = clusterPlanView(pool, now, {
    details: (one) => maySee(ownerOfCluster(one), only),
    operators: (one) => showsOperator(ownerOfCluster(one), only),
  });
  const phases = pool.clusters?.phases;
  if (view === null || phases === undefined) return undefined;
  const usual = (phase: Phase) =>
    phases[phase].count === 0 ? null : seconds(phases[phase].usualMs);
  return {
    pool: pool.name,
    template: pool.policy.cluster?.template ?? null,
    ...view,
    usualSeconds: {
      creating: usual("creating"),
      stopping: usual("stopping"),
      resuming: usual("resuming"),
      destroying: usual("destroying"),
    },
    underWay: [...view.underWay],
    nextSteps: [...view.nextSteps],
  };
}
