import type { DiskBugs } from "./disk.ts";
import type { WorkerBugs } from "./provisioner.ts";
import type { ReplicaBugs } from "./replicas/replica-set.ts";
import type { EdgeBugs } from "./server.ts";

export type Bugs = DiskBugs & EdgeBugs & WorkerBugs & ReplicaBugs;

/**
 * Known bugs, planted one at a time to test the simulator itself. Each was once a bug of a real
 * broker.
 */
export const plantedBugs: Readonly<Record<string, Bugs>> = {
  "the fence check is missing: an old holder releases another holder's resource": {
    ignoreFences: true,
  },
  "a request is granted after it has left the queue": { keepLeavers: true },
  "release has no owner check: any client releases any lease": { trustAnybody: true },
  "the journal loses its tail in a crash": { loseTail: true },
  "recovery applies the last commit twice": { applyTwice: true },
  "the journal acknowledges before it is durable": { acknowledgeEarly: true },
  "a snapshot forgets the fences": { forgetFences: true },
  "a polling client that asks again is taken for another client": { forgetPollers: true },
  "the delivery of a lease to a polling client is not recorded": { forgetDelivery: true },
  "a pool is lent although its admission check said no": { admitAlways: true },
  "a pool is lent without the pace of its parent": { ignoreSharedPaces: true },
  "a resource without the label is lent to a request for the label": { listWrongMatches: true },
  "a request for a label is not granted when a match is free": { loseMatches: true },
  "a space gets more than its quota": { ignoreQuotas: true },
  "a space that holds more than others is served first": { ignoreShares: true },
  "a space that holds much waits for as long as others ask": { forgetStarved: true },
  "a space saves up turns with groups that lost a member": { saveTurns: true },
  "a lease gets a notice although its pool does not allow it": { preemptAlways: true },
  "a cohort lends more than its spaces have": { lendTwice: true },
  "a space borrows what another waits for within its quota": { forgetLenders: true },
  "the priority of a request does not rise while it waits": { forgetAgeing: true },
  "a priority rises above its bound": { ageWithoutBound: true },
  "a release by name does not check the holder": { trustNames: true },
  "a cluster is lent before it is ready": { readyEarly: true },
  "a worker creates a cluster that nobody has planned": { newNames: true },
  "a worker makes a cluster on another hub than the journal says": { anyHub: true },
  "a hub gets more clusters than its limit": { ignoreHubLimits: true },
  "a cluster is lent while its hub cannot be reached": { lendUnreachable: true },
  "a cluster stays in the cloud when the books have none": { forgetOrphans: true },
  "a used cluster is lent again": { lendUsed: true },
  "a pool makes more clusters than its max": { ignoreMax: true },
  "the limit of an account does not count clusters": { ignoreAccounts: true },
  "a quota does not count clusters that are being destroyed": { uncharge: true },
};

/** The same for several servers on one journal. */
export const plantedReplicaBugs: Readonly<Record<string, ReplicaBugs>> = {
  "a server that no longer leads appends to the journal": { ignoreEpoch: true },
  "a server leads for longer than its lease": { stepDownLate: true },
  "a server that does not lead answers a heartbeat": { followerAnswers: true },
  "a server that follows answers a reader from old memory": { readStale: true },
};
