/** Who takes resources out of service in the demo, and why: it fits the kind of resource. */
import type { Random } from "../src/insight/forecast/random.ts";
import type { Kind } from "./shape.ts";

export interface Repair {
  readonly by: string;
  /** Why it is drained, or what its cleaner says; and why it is returned. */
  readonly why: string;
  readonly note?: string;
  readonly back: string;
}

type Reasons = readonly (readonly [why: string, back: string])[];

interface Team {
  readonly name: string;
  readonly drains: Reasons;
  /** What a cleaner says, and what the team did about it. */
  readonly failures: Reasons;
}

const cloud: Team = {
  name: "cloud team",
  drains: [
    ["credentials are rotated", "new credentials work"],
    ["provider raises the quota", "quota is raised"],
    ["billing alert is checked", "cost is as planned"],
  ],
  failures: [
    ["cleaner: 2 volumes are still attached", "volumes are detached and deleted"],
    ["cleaner: 3 load balancers are left", "load balancers are deleted"],
  ],
};

const lab: Team = {
  name: "lab team",
  drains: [
    ["firmware update", "firmware is updated, smoke test passed"],
    ["disk is replaced", "new disk is in"],
    ["switch is moved to another rack", "link is up again"],
  ],
  failures: [
    ["cleaner: BMC does not answer", "BMC is reset"],
    ["cleaner: PXE boot timed out", "boots again after a power cycle"],
  ],
};

const nightShift: Team = {
  name: "night shift",
  drains: [
    ["jobs on it fail more often than on others", "no fault found"],
    ["clock is off by 3 s", "time is synchronized again"],
  ],
  failures: [["cleaner: 2 volumes are still attached", "volumes are deleted by hand"]],
};

/** Kinds that stand in a room; the others are rented. */
const ownKinds: readonly Kind[] = ["segment", "host", "cluster"];
const nightShare = 0.2;

/** `kind` is that of the pool; `broken`: its cleaner failed, otherwise somebody drains it. */
export function repairOf(kind: Kind, broken: boolean, random: Random): Repair {
  const owner = ownKinds.includes(kind) ? lab : cloud;
  const team = random.chance(nightShare) ? nightShift : owner;
  const [why, back] = random.pick(broken ? team.failures : team.drains);
  return broken
    ? { by: team.name, why: "cleaning failed", note: why, back }
    : { by: team.name, why, back };
}
