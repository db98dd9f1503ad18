/** What operators do with a cluster, each with sentences that describe its effects. */
import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { berth } from "../data/berth.ts";
import type { Action } from "../parts/action-button.tsx";
import { isFailing } from "./cluster-facts.ts";

/** The actions that are possible in the cluster's state. */
export function actionsFor(cluster: Cluster): readonly Action[] {
  const { state, hold, lease } = cluster;
  const isGoing = state === "destroying";
  const actions = [
    ...(hold !== null ? [unhold(cluster)] : isGoing ? [] : [keep(cluster)]),
    ...(lease === null && hold === null && !isGoing ? [destroy(cluster)] : []),
    // The last resort: a destruction that goes well needs nobody.
    ...(lease === null && isFailing(cluster) ? [abandon(cluster)] : []),
  ];
  return actions.map((action) => ({ ...action, isOfSpace: cluster.space !== null }));
}

/** States in which nobody works on it: when it is no longer kept, it is destroyed. */
const idle = ["free", "hibernated", "used", "broken"];

function keep({ name, lease, space, state }: Cluster): Action {
  const pays = space === null ? "" : ` ${space} pays for it meanwhile.`;
  return {
    verb: "Keep for debugging (2h)",
    title: `Keep ${name} for debugging`,
    effects: [
      `${name} is not destroyed for 2 hours, so that you can look at it.${pays}`,
      ...(lease === null
        ? idle.includes(state)
          ? ["It is never lent again. Then it is destroyed."]
          : []
        : [
            `${lease.holder} keeps its lease. After its release the cluster stays for the rest of the 2 hours; then it is destroyed.`,
          ]),
    ],
    run: (audit) => berth.clusters.hold(name, { for: "2h", ...audit }),
    done: `${name} is kept for 2 hours`,
  };
}

function unhold({ name, hold }: Cluster): Action {
  return {
    verb: "Let go",
    title: `Let ${name} go`,
    effects: [`${hold?.by} has kept it. It is destroyed as soon as the plan of its pool allows.`],
    run: (audit) => berth.clusters.unhold(name, audit),
    done: `${name} is no longer kept`,
  };
}

function destroy({ name, pool }: Cluster): Action {
  return {
    verb: "Destroy",
    title: `Destroy ${name}`,
    effects: [
      `${name} is destroyed, and ${pool} makes another one if its plan wants one.`,
      "This cannot be undone.",
    ],
    run: (audit) => berth.clusters.destroy(name, audit),
    done: `${name} will be destroyed`,
    harmful: true,
  };
}

function abandon({ name, instance }: Cluster): Action {
  return {
    verb: "Abandon",
    title: `Abandon ${name}`,
    effects: [
      `Berth forgets ${name}, and nobody is charged for it any longer.`,
      `Whatever exists of ${instance} outside stays, and costs money until somebody removes it.`,
      "This cannot be undone.",
    ],
    run: (audit) => berth.clusters.abandon(name, audit),
    done: `${name} is abandoned`,
    harmful: true,
  };
}
