/** The messages of refusals about clusters. */
import { Problem } from "../api/problem.ts";
import type { Refusal } from "../core/model/outcome.ts";
import { stateWord } from "../core/model/state-word.ts";

const codes = [
  "not_a_cluster",
  "lent_by_parameters",
  "parameters_not_allowed",
  "cluster_state",
  "cluster_exists",
  "cluster_limit",
  "cluster_surplus",
  "handle_too_long",
  "version_unsupported",
  "hub_not_found",
  "hub_configured",
] as const satisfies readonly Refusal["code"][];

export type ClusterRefusal = Extract<Refusal, { code: (typeof codes)[number] }>;

export function isAboutClusters(refusal: Refusal): refusal is ClusterRefusal {
  return (codes as readonly string[]).includes(refusal.code);
}

export function clusterProblem(refusal: ClusterRefusal): Problem {
  const { code } = refusal;
  switch (code) {
    case "not_a_cluster":
      return new Problem({
        code,
        status: 409,
        message: `Cannot use ${refusal.resource} as a cluster: its pool has no template`,
        hint: "Name a resource of a pool that has a template",
      });
    case "lent_by_parameters":
      return new Problem({
        code,
        status: 422,
        message: `Cannot choose a cluster of ${refusal.pool} by ${refusal.key}: clusters are made by parameters`,
        hint: `Remove ${refusal.key}; write parameters if you need other than the usual ones`,
        facts: { pool: refusal.pool, key: refusal.key },
      });
    case "parameters_not_allowed":
      return new Problem({
        code,
        status: 422,
        message: `Cannot use parameters for ${refusal.pool}: it has no template`,
        hint: "Remove parameters, or use a pool with a template",
        facts: { pool: refusal.pool },
      });
    case "cluster_state":
      return stateProblem(refusal);
    case "cluster_exists":
      return new Problem({
        code,
        status: 409,
        message: `Cannot adopt ${refusal.resource}: Berth has a resource of this name`,
        hint: "Adopt it under another name",
      });
    case "cluster_limit":
      return new Problem({
        code,
        status: 409,
        message: `Cannot adopt a cluster: ${refusal.pool} has ${refusal.used} of at most ${refusal.limit}`,
        hint: "Destroy another cluster first, or raise the limit",
        facts: { pool: refusal.pool, used: refusal.used, limit: refusal.limit },
      });
    case "cluster_surplus":
      return new Problem({
        code,
        status: 409,
        message: `Cannot adopt a cluster: ${refusal.pool} keeps ${refusal.size} and has them, so it would be destroyed`,
        hint: "Raise size of the pool first, or destroy one of its clusters",
        facts: { pool: refusal.pool, size: refusal.size },
      });
    case "handle_too_long":
      return new Problem({
        code,
        status: 422,
        message: `Cannot keep the handle of ${refusal.resource}: it is longer than ${refusal.max} characters`,
        hint: "Keep only what the driver needs to find the cluster again",
        facts: { max: refusal.max },
      });
    case "version_unsupported":
    case "hub_not_found":
    case "hub_configured":
      return hubProblem(refusal);
  }
}

type HubRefusal = Extract<
  Refusal,
  { code: "version_unsupported" | "hub_not_found" | "hub_configured" }
>;

function hubProblem(refusal: HubRefusal): Problem {
  const { code } = refusal;
  switch (code) {
    case "version_unsupported": {
      const { pool, version, known, nearest } = refusal;
      return new Problem({
        code,
        status: 422,
        message: `Cannot make a cluster of ${pool} with version ${version}: its hubs make ${known.join(", ")}`,
        hint: nearest === undefined ? "Ask for another version" : `Ask for ${nearest}`,
        facts: { pool, version, known, ...(nearest === undefined ? undefined : { nearest }) },
      });
    }
    case "hub_not_found": {
      const { hub, nearest } = refusal;
      return new Problem({
        code,
        status: 404,
        message: `Cannot find hub "${hub}"`,
        hint: nearest === undefined ? "See `berth hubs`" : `Did you mean "${nearest}"?`,
        facts: { hub, ...(nearest === undefined ? undefined : { nearest }) },
      });
    }
    case "hub_configured":
      return new Problem({
        code,
        status: 409,
        message: `Cannot use ${refusal.hub} again: the configuration says that it is ${refusal.state}`,
        hint: `Remove state: ${refusal.state} from the hub in the configuration`,
        facts: { hub: refusal.hub, state: refusal.state },
      });
  }
}

function stateProblem(refusal: Extract<ClusterRefusal, { code: "cluster_state" }>): Problem {
  const { code, resource, action, state, to, allowed } = refusal;
  const as = to === undefined ? "" : ` as ${to}`;
  return new Problem({
    code,
    status: 409,
    message: `Cannot ${verbs[action]} ${resource}${as}: it is ${stateWord(state)}`,
    hint: allowed === undefined ? hints[action] : `Use ${allowed.join(" or ")}`,
    facts: { resource, state, ...(allowed === undefined ? undefined : { allowed }) },
  });
}

type Action = Extract<Refusal, { code: "cluster_state" }>["action"];

const verbs: Readonly<Record<Action, string>> = {
  release: "release",
  hold: "hold",
  unhold: "unhold",
  destroy: "destroy",
  abandon: "abandon",
  report: "report on",
  replace: "replace",
};

const hints: Readonly<Record<Action, string>> = {
  release: "Release it without a state",
  hold: "Its destruction has begun: collect its logs instead",
  unhold: "Nobody keeps it",
  destroy: "End the lease or the hold on it first",
  abandon: "End the lease on it first",
  report: "Only the worker that holds the cluster reports on it",
  replace: "Only the holder of a cluster can replace it",
};
