import { SimulateBody, Simulation, SimulationProgress } from "../api/history-schemas.ts";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { TooMuchHistory } from "../insight/stats-query.ts";
import { poolsInForce, tenancyInForce } from "../insight/what-if/in-force.ts";
import { reportOf } from "../insight/what-if/report.ts";
import { BadSetting, changedBy, parseSetting, withSettings } from "../insight/what-if/settings.ts";
import type { App, Context } from "./context.ts";
import { historyProblem } from "./history.ts";
import { abortOnClose, durationIn } from "./request.ts";
import { problems } from "./responses.ts";

const weekMs = 7 * 24 * 3_600_000;

/** One at a time: each is seconds of work for the thread that also makes the estimates. */
export function planRoutes(app: App, { broker, insight }: Context): void {
  /** How far the one is that runs; undefined: none does. */
  let done: number | undefined;
  app.get("/v1/simulate", { schema: progressSchema }, async () => {
    return { running: done !== undefined, done: done ?? null };
  });
  app.post("/v1/simulate", { schema }, async ({ body }, reply) => {
    const { last, set = [] } = body;
    const range = { minMs: 1_000, maxMs: limits.statsWindowMsMax };
    const lastMs = last === undefined ? weekMs : durationIn("body.last", last, range);
    const { now, pools, tenancy } = await broker.read((state, at) => {
      return { now: at, pools: poolsInForce(state), tenancy: tenancyInForce(state) };
    });
    if (done !== undefined) throw alreadyRunning();
    done = 0;
    const signal = abortOnClose(reply.raw);
    try {
      const names = pools.map(({ name }) => name);
      const settings = set.map((text) => parseSetting(text, names));
      const whatIf = {
        ...{ from: now - lastMs, to: now, pools: withSettings(pools, settings) },
        ...changedBy(settings),
        ...{ inForce: pools, tenancy },
      };
      const ask = { whatIf, entriesMax: limits.simulatedMax };
      const progress = (share: number) => {
        done = share;
      };
      return reportOf(
        await insight.ask("simulate", ask, { signal, progress }).catch(historyProblem),
      );
    } catch (error) {
      if (signal.aborted) return reply.hijack(); // The client is gone.
      throw settingProblem(error);
    } finally {
      done = undefined;
    }
  });
}

const schema = {
  tags: ["history"],
  summary: "Simulate other pools: recorded demand through the real rules",
  description:
    "Demand is who asked when, for what and for how long; when it is granted follows anew from the rules. It stops when the connection is closed",
  body: SimulateBody,
  response: { 200: Simulation, ...problems(400, 422, 503) },
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
  const hint = "Simulate a shorter time with last, or use berth simulate --from DIR";
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
