import { SimulateBody, Simulation } from "../api/history-schemas.ts";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { TooMuchHistory } from "../insight/job.ts";
import { poolsInForce } from "../plan/in-force.ts";
import { reportOf } from "../plan/report.ts";
import { BadSetting, parseSetting, withSettings } from "../plan/settings.ts";
import { durationIn } from "./durations.ts";
import { refuseWhenBusy } from "./history.ts";
import { problems } from "./responses.ts";
import type { App, Site } from "./site.ts";

const weekMs = 7 * 24 * 3_600_000;

/** One at a time: each is seconds of work for the thread that also makes the estimates. */
export function planRoutes(app: App, { broker, insight }: Site): void {
  let running = false;
  const schema = {
    tags: ["history"],
    summary: "What would have been with other pools: recorded demand through the real rules",
    description:
      "Demand is who asked when, for what and for how long; when it is granted follows anew from the rules",
    body: SimulateBody,
    response: { 200: Simulation, ...problems(400, 422, 503) },
  };
  app.post("/v1/simulate", { schema }, async ({ body }) => {
    const { last, set = [] } = body;
    const range = { minMs: 1_000, maxMs: limits.statsWindowMsMax };
    const lastMs = last === undefined ? weekMs : durationIn("body.last", last, range);
    const { now, pools } = await broker.look((state, at) => {
      return { now: at, pools: poolsInForce(state) };
    });
    if (running) throw alreadyRunning();
    running = true;
    try {
      const names = pools.map(({ name }) => name);
      const wanted = withSettings(
        pools,
        set.map((text) => parseSetting(text, names)),
      );
      const whatIf = { from: now - lastMs, to: now, pools: wanted };
      const ask = { whatIf, entriesMax: limits.simulatedMax };
      return reportOf(await insight.study("simulate", ask).catch(refuseWhenBusy));
    } catch (error) {
      throw inWords(error);
    } finally {
      running = false;
    }
  });
}

function inWords(error: unknown): unknown {
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
