import Type from "typebox";
import { limits } from "../api/limits.ts";
import { PoolChanges } from "../api/pool-changes-schema.ts";
import type { Reader } from "../core/explain/out-of-use.ts";
import { poolView } from "../core/explain/pool-view.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { callerOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { PoolChangeLog, type PoolFields } from "./pool-change-log.ts";
import { timestampOrNull } from "./render/lease.ts";
import { renderPool } from "./render/pool.ts";
import { problems } from "./responses.ts";
import { limitedTo, readerFor } from "./sight.ts";

const Query = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: limits.nameLengthMax,
        description: "The `cursor` of an earlier answer. Everything is returned if it is unknown",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Some fields change without an event, such as the time of the next grant and credits. */
const compareEveryMs = 1_000;

/** For readers that follow all pools: they read them once, and then what has changed. */
export function poolChangesRoute(app: App, context: Context): void {
  const logs = { all: newLog(), space: newLog() };
  const schema = {
    tags: ["page"],
    summary: "What has changed in the pools since an earlier answer",
    querystring: Query,
    response: { 200: PoolChanges, ...problems(400) },
  };
  app.get("/v1/pool-changes", { schema }, (request) =>
    context.broker.read((state, now) => {
      const { head } = context.broker;
      const reader = readerFor(limitedTo(callerOf(request)));
      const { log, compared } = logs[reader];
      if (head !== compared.head || now - compared.at >= compareEveryMs) {
        log.update(fieldsOf(state, now, context, reader));
        Object.assign(compared, { head, at: now });
      }
      return log.since(request.query.after) as PoolChanges;
    }),
  );
}

/** One for each kind of reader. A cursor of the one means nothing to the other. */
function newLog() {
  return { log: new PoolChangeLog(), compared: { head: -1, at: 0 } };
}

function fieldsOf({ pools }: State, now: Instant, context: Context, reader: Reader): PoolFields[] {
  return Array.from(pools.values(), (pool) => {
    const view = poolView(pool, now);
    // The wait grows all the time; the time since when it lasts does not change.
    const { oldestWaitSeconds: _, ...fields } = renderPool(view, now, context, reader);
    return { ...fields, oldestQueuedAt: timestampOrNull(view.oldestQueuedAt) };
  });
}
