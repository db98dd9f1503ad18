import { setImmediate } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import {
  CompareBody,
  SimulateBody,
  SimulatedVariants,
  Simulation,
  SimulationProgress,
} from "../api/history-schemas.ts";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { TooMuchHistory } from "../insight/stats-query.ts";
import { poolsInForce, tenancyInForce } from "../insight/what-if/in-force.ts";
import { reportOf } from "../insight/what-if/report.ts";
import { BadSetting, settingsRoom } from "../insight/what-if/settings.ts";
import { variantOf } from "../insight/what-if/variant.ts";
import type { WhatIf } from "../insight/what-if/what-if.ts";
import type { App, Context } from "./context.ts";
import { historyProblem } from "./history.ts";
import { abortOnClose, durationIn, momentIn } from "./request.ts";
import { problems } from "./responses.ts";

const weekMs = 7 * 24 * 3_600_000;

/** Variants of one comparison share the work that one simulation may do, twice over. */
const comparedMax = 2 * limits.simulatedMax;

interface Wanted {
  readonly last: string | undefined;
  readonly to?: string | undefined;
  /** The settings of each variant. */
  readonly variants: readonly (readonly string[])[];
  /** Only pools that a change of this one can affect. Absent: as the settings say. */
  readonly pool?: string;
  /** The space whose requests are reported. Absent: all. */
  readonly space?: string | undefined;
}

/** One at a time: each is seconds of work for the thread that also makes the estimates. */
export function planRoutes(app: App, context: Context): void {
  /** How far the one is that runs; undefined: none does. */
  let done: number | undefined;
  const run = async (wanted: Wanted, reply: FastifyReply) => {
    if (done !== undefined) throw alreadyRunning();
    done = 0;
    const signal = abortOnClose(reply.raw);
    try {
      const simulations = await prepared(context, wanted);
      const count = simulations.length;
      const entriesMax = Math.min(limits.simulatedMax, Math.floor(comparedMax / count));
      const found: Simulation[] = [];
      for (const [index, whatIf] of simulations.entries()) {
        const progress = (share: number) => {
          done = (index + share) / count;
        };
        const asked = context.insight.ask("simulate", { whatIf, entriesMax }, { signal, progress });
        found.push(reportOf(await asked.catch(historyProblem)));
      }
      return found;
    } catch (error) {
      if (signal.aborted) return undefined; // The client is gone.
      throw settingProblem(error);
    } finally {
      done = undefined;
    }
  };
  app.get("/v1/simulate", { schema: progressSchema }, async () => {
    return { running: done !== undefined, done: done ?? null };
  });
  app.post("/v1/simulate", { schema }, async ({ body: { last, set = [] } }, reply) => {
    const [simulation] = (await run({ last, variants: [set] }, reply)) ?? [];
    return simulation ?? reply.hijack();
  });
  app.post("/v1/simulate/compare", { schema: compareSchema }, async ({ body }, reply) => {
    const { variants } = body;
    const found = await run({ last: undefined, ...body }, reply);
    if (found === undefined) return reply.hijack();
    return {
      variants: found.map((simulation, index) => ({ set: variants[index] ?? [], simulation })),
    };
  });
}

/** Everything that can be wrong with the question is found before any work begins. */
async function prepared({ broker }: Context, wanted: Wanted): Promise<WhatIf[]> {
  const range = { minMs: 1_000, maxMs: limits.statsWindowMsMax };
  const { last, pool } = wanted;
  const lastMs = last === undefined ? weekMs : durationIn("body.last", last, range);
  const { now, inForce } = await broker.read((state, at) => {
    return { now: at, inForce: { pools: poolsInForce(state), tenancy: tenancyInForce(state) } };
  });
  if (pool !== undefined && inForce.pools.every(({ name }) => name !== pool)) {
    const message = `Cannot simulate pool "${pool}": there is no such pool`;
    throw settingProblem(new BadSetting(message, "Fix the name"));
  }
  const to = Math.min(now, momentIn("body.to", wanted.to, now) ?? now);
  const room = settingsRoom(limits.simulatedResourcesMax);
  const found: WhatIf[] = [];
  try {
    for (const set of wanted.variants) {
      const { changed, ...variant } = variantOf(set, inForce, room);
      const reached = pool === undefined ? changed : [pool, ...(changed ?? [])];
      found.push({
        ...{ from: to - lastMs, to, ...variant },
        ...(wanted.space === undefined ? undefined : { space: wanted.space }),
        ...(reached === undefined ? undefined : { changed: reached }),
      });
      // Each copies all pools: other calls come in between.
      await setImmediate();
    }
    return found;
  } catch (error) {
    throw settingProblem(error);
  }
}

const schema = {
  tags: ["history"],
  summary: "Simulate other pools: recorded demand through the real rules",
  description:
    "Demand is who asked when, for what and for how long; when it is granted follows anew from the rules. It stops when the connection is closed",
  body: SimulateBody,
  response: { 200: Simulation, ...problems(400, 422, 503) },
};

const compareSchema = {
  tags: ["history"],
  summary: "Simulate several variants of a pool, side by side",
  description:
    "Each variant is a list of settings, and an empty one is the pool as it is. All together replay at most twice as much as one simulation may",
  body: CompareBody,
  response: { 200: SimulatedVariants, ...problems(400, 422, 503) },
};

const progressSchema = {
  tags: ["history"],
  summary: "Whether a simulation runs, and how far it is",
  response: { 200: SimulationProgress },
};

function settingProblem(error: unknown): unknown {
  if (error instanceof BadSetting) {
    const { message, hint } = error;
    return new Problem({ code: "bad_setting", status: 422, message, hint });
  }
  if (!(error instanceof TooMuchHistory)) return error;
  const hint =
    "Simulate a shorter time with last, compare fewer variants, or use berth simulate --from DIR";
  return new Problem({ code: "too_much_history", status: 422, message: error.message, hint });
}

function alreadyRunning(): Problem {
  return new Problem({
    code: "simulation_running",
    status: 503,
    message: "Cannot simulate: another simulation is running",
    hint: "Try again in a moment, or use berth simulate --from DIR",
  });
}
