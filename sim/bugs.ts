import type { DiskBugs } from "./disk.ts";
import type { EdgeBugs } from "./server.ts";

export type Bugs = DiskBugs & EdgeBugs;

/**
 * Known bugs, planted one at a time to test the tester: a simulator that does not find these finds
 * nothing. Each is what a real broker got wrong once.
 */
export const plantedBugs: Readonly<Record<string, Bugs>> = {
  "the fence check is dropped: an old holder gives back what another has": { ignoreFences: true },
  "the waiter is not checked again: it is granted to after it has left": { keepLeavers: true },
  "release has no owner check: anybody gives back anything": { trustAnybody: true },
  "the journal loses its tail in a crash": { loseTail: true },
  "recovery applies the last commit twice": { applyTwice: true },
  "the journal acknowledges before it is durable": { acknowledgeEarly: true },
  "a snapshot forgets the fences": { forgetFences: true },
  "a poller that asks again is taken for another one": { forgetPollers: true },
  "a poller is told of its lease and nobody notes it": { forgetDelivery: true },
  "a pool is lent although the look outside said no": { admitAlways: true },
  "a pool is lent without the pace of what it draws on": { ignoreSharedPaces: true },
  "a release by name takes anybody's word for the holder": { trustNames: true },
};
