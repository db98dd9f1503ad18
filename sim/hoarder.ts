/**
 * A simulated team that wants more than its turns. It queues pairs, cancels one of each pair when it
 * goes ahead of the shares, and the other one later, beside requests that it wants granted.
 */
import type { Ask } from "../src/core/model/command.ts";
import type { RequestId, SpaceName } from "../src/core/model/ids.ts";
import type { PoolSpec } from "../src/core/model/policy.ts";
import { type JobWorld, runJob } from "./job.ts";

export async function runHoarder(
  name: string,
  space: SpaceName,
  pool: PoolSpec,
  jobWorld: JobWorld,
): Promise<void> {
  const { world, random, observer } = jobWorld;
  for (let turn = 1; jobWorld.faulty(); turn++) {
    const group = { name: `${space}/${name}-${turn}`, size: 2 };
    const askAs = (role: string): Ask => {
      const holder = `${name}-${turn}-${role}`;
      return { holder, items: [{ pool: pool.name, count: 1 }], space };
    };
    const overAtMs = world.nowMs + random.between(30_000, 300_000);
    const isOver = () => !jobWorld.faulty() || world.nowMs > overAtMs;
    const isAhead = (id: RequestId) => observer.ledger.isStarved(id, { group });
    const run = (ask: Ask, givesUp: (id: RequestId) => boolean) => {
      return runJob(ask.holder, ask, jobWorld, givesUp);
    };
    await Promise.all([
      run({ ...askAs("first"), group }, (id) => isOver() || isAhead(id)),
      run({ ...askAs("second"), group }, isOver),
      run(askAs("single"), isOver),
    ]);
    await world.sleep(random.between(100, 10_000));
  }
}
