import type { FastifyRequest } from "fastify";
import { Attention } from "../../api/attention-schemas.ts";
import { mayDo } from "../../auth/roles.ts";
import { type Trouble, troublesIn } from "../../core/explain/troubles.ts";
import { type Instant, roughDuration } from "../../core/model/time.ts";
import { callerOf } from "../authorize.ts";
import type { App, Context } from "../context.ts";
import { limitedTo } from "../sight.ts";
import { type Found, grouped, poolsIn } from "./group.ts";
import {
  admissionTroubles,
  configTroubles,
  lackTroubles,
  replicaTroubles,
  tokenTroubles,
  workTroubles,
} from "./server-troubles.ts";

/** Every open page asks, so one look at all pools answers all who ask within this time. */
const keptMs = 1_000;

/** Drivers write times as they like; people read how old a thing is. */
function withAge(trouble: Trouble, now: Instant): Trouble {
  const ageMs = now - Date.parse(trouble.madeAt ?? "");
  if (Number.isNaN(ageMs)) return trouble;
  return { ...trouble, text: `${roughDuration(Math.max(0, ageMs))} old, ${trouble.text}` };
}

/** One list for the page, the command line and scripts. */
export function attentionRoute(app: App, context: Context): void {
  const { broker, insight } = context;
  let last = { at: Number.NEGATIVE_INFINITY, troubles: [] as readonly (Trouble | Found)[] };
  const look = async () => {
    insight.usualWaits.refresh(broker.now());
    return await broker.read((state, now) => {
      if (now - last.at >= keptMs || now < last.at) {
        const inState = troublesIn(state, now, insight.usualWaits.known);
        const troubles = [
          ...inState.map((one) => withAge(one, now)),
          ...admissionTroubles(state, context),
        ];
        last = { at: now, troubles };
      }
      return last.troubles;
    });
  };
  const schema = {
    tags: ["page"],
    summary: "What needs a person now: what, since when, and what to do",
    description:
      "Empty if all is well. A holder sees the trouble of pools and of its own space; that of the " +
      "server is for those who may see everything, that of tokens for operators",
    response: { 200: Attention },
  };
  app.get("/v1/attention", { schema }, async (request: FastifyRequest) => {
    const { role } = callerOf(request);
    const only = limitedTo(callerOf(request));
    const sees = (one: Trouble | Found) =>
      !("space" in one) || only === undefined || one.space === only;
    const found: Found[] = [...(await look())].filter(sees);
    if (mayDo(role, "observe")) {
      found.push(...configTroubles(context), ...workTroubles(context), ...lackTroubles(context));
      found.push(...(await replicaTroubles(context)));
    }
    if (mayDo(role, "operate")) found.push(...tokenTroubles(context));
    return { items: grouped(found), pools: poolsIn(found) };
  });
}
