import Type from "typebox";
import { Costs } from "../../api/cluster-schemas.ts";
import type { Instant } from "../../core/model/time.ts";
import { callerOf } from "../authorize.ts";
import type { CallerShares } from "../caller-shares.ts";
import type { App, Context } from "../context.ts";
import { historyProblem } from "../history.ts";
import { invalid } from "../problems.ts";
import { momentIn } from "../request.ts";
import { problems } from "../responses.ts";
import { limitedTo } from "../sight.ts";
import { timestamp } from "../timestamp.ts";

const moment = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 64,
      description: `${description}: RFC 3339, or a duration that has passed since, such as 7d`,
    }),
  );
const Query = Type.Object(
  { since: moment("7d unless given"), until: moment("Now unless given") },
  { additionalProperties: false },
);
const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** A holder sees the costs of its own space. */
export function costRoute(app: App, { broker, insight }: Context, questions: CallerShares): void {
  const schema = {
    tags: ["clusters"],
    summary: "What clusters cost, by space, template and pool",
    querystring: Query,
    response: { 200: Costs, ...problems(400, 503) },
  };
  app.get("/v1/costs", { schema }, async (request) => {
    using _share = questions.take(request);
    const now = broker.now();
    const to = Math.min(now, momentIn("query.until", request.query.until, now) ?? now);
    const from = momentIn("query.since", request.query.since, now) ?? to - weekMs;
    if (from >= to) throw invalid("query.since", "it is not before until", "Give an earlier time");
    const space = limitedTo(callerOf(request));
    const sums = await insight.ask("costs", { from, to, space }).catch(historyProblem);
    const items = sums.map(({ clusterMs, costMs, ...sum }) => {
      return { ...sum, clusterHours: clusterMs / hourMs, costHours: costMs / hourMs };
    });
    return { since: timestamp(from as Instant), until: timestamp(to as Instant), items };
  });
}
