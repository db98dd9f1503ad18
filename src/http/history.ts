import Type, { type Static } from "typebox";
import { historyEnds } from "../api/history-ends.ts";
import { EstimateAccuracy, HistoryEntry, PoolStats, Stats } from "../api/history-schemas.ts";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { Duration, Page } from "../api/schemas.ts";
import { mayDo } from "../auth/roles.ts";
import { poolNotFound } from "../core/decide/not-found.ts";
import { descendants, isOnlyLimit, limitOf } from "../core/gates/limits.ts";
import type { PoolName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { Accuracies, Accuracy } from "../insight/forecast/accuracy.ts";
import { HistoryUnavailable } from "../insight/history/history.ts";
import { StatsWorkerBusy } from "../insight/stats-worker.ts";
import { callerOf } from "./authorize.ts";
import type { CallerShares } from "./caller-shares.ts";
import type { App, Context } from "./context.ts";
import { numberInCursor, pageFields, pageSizeOf } from "./paging.ts";
import { problemOf } from "./problems.ts";
import { renderEntry, renderPoolStats, renderStats } from "./render/history.ts";
import { durationIn, momentIn, momentText } from "./request.ts";
import { problems } from "./responses.ts";
import { limitedTo } from "./sight.ts";
import { unknownWord } from "./unknown-word.ts";

const filter = (description: string) =>
  Type.Optional(Type.String({ maxLength: limits.holderLengthMax, description }));
const moment = (description: string) => filter(momentText(description));

const HistoryQuery = Type.Object(
  {
    pool: filter("Only of this pool"),
    resource: filter("Only of this resource"),
    holder: filter("Only of this holder"),
    text: filter("Only those with this text in the holder, pool, resource or space, in any case"),
    how: filter(
      "Only those that ended so, such as expired; several with commas; 400 for an unknown one",
    ),
    id: filter("Only of this request or lease"),
    purpose: Type.Optional(
      Type.Union([Type.Literal("use"), Type.Literal("clean"), Type.Literal("all")], {
        description: "clean: cleanings; use unless given, or all if an id is given",
      }),
    ),
    since: moment("Ended at this time or later"),
    until: moment("Ended before this time"),
    ...pageFields,
  },
  { additionalProperties: false },
);

const StatsQuery = Type.Object(
  {
    pool: filter("All pools together unless given"),
    window: Type.Optional({ ...Duration, description: "24h unless given" }),
    step: Type.Optional({ ...Duration, description: "A 24th of the window unless given" }),
    until: moment("Where the window ends; now unless given, and at the latest"),
  },
  { additionalProperties: false },
);

const PoolStatsQuery = Type.Pick(StatsQuery, ["window", "until"], { additionalProperties: false });

const HistoryPage = Page(HistoryEntry);

export function historyRoutes(app: App, context: Context, questions: CallerShares): void {
  listRoute(app, context, questions);
  statsRoute(app, context, questions);
  poolStatsRoute(app, context, questions);
  accuracyRoute(app, context);
}

function listRoute(app: App, { broker, insight }: Context, questions: CallerShares): void {
  const schema = {
    tags: ["history"],
    summary: "Past requests and leases, the latest first",
    querystring: HistoryQuery,
    response: { 200: HistoryPage, ...problems(400, 503) },
  };
  app.get("/v1/history", { schema }, async (request) => {
    using _share = questions.take(request);
    const { query } = request;
    const { limit, after, since, until, purpose: wanted, ...same } = query;
    const purpose = wanted ?? (same.id === undefined ? "use" : "all");
    mustBeEnds(same.how);
    numberInCursor(after);
    const now = broker.now();
    const times = {
      since: momentIn("query.since", since, now),
      until: momentIn("query.until", until, now),
    };
    const ask = {
      filter: {
        ...same,
        ...times,
        ...(purpose === "all" ? {} : { purpose }),
        space: limitedTo(callerOf(request)),
      },
      limit: pageSizeOf(limit),
      after,
    };
    const { items, next } = await insight.ask("page", ask).catch(historyProblem);
    return { items: items.map(renderEntry), next };
  });
}

/** A misspelt end would find nothing, which reads as "it never happened". */
function mustBeEnds(how: string | undefined): void {
  const known = Object.keys(historyEnds);
  const unknown = how?.split(",").find((end) => !known.includes(end));
  if (unknown !== undefined) throw unknownWord("query.how", { kind: "end", given: unknown }, known);
}

function statsRoute(app: App, { broker, insight }: Context, questions: CallerShares): void {
  const schema = {
    tags: ["history"],
    summary: "Waits, holds, throughput, utilisation and expiries, over a window and per step",
    querystring: StatsQuery,
    response: { 200: Stats, ...problems(400, 404, 503) },
  };
  app.get("/v1/stats", { schema }, async (request) => {
    using _share = questions.take(request);
    const { query } = request;
    const range = rangeOf(query, broker.now());
    const { pool } = query;
    const { limited, hasHubs } = await broker.read(({ pools }) => factsOf(pools, pool));
    const asked = insight.ask("stats", { range, pool, limited });
    const stats = await asked.catch(historyProblem);
    if (pool !== undefined && stats.total.asked + stats.total.ended === 0) {
      const missing = await broker.read((state) => {
        const known = state.pools.has(pool as PoolName);
        return known ? undefined : problemOf(poolNotFound(state, pool as PoolName));
      });
      if (missing !== undefined) throw missing;
    }
    const seesHubs = hasHubs && mayDo(callerOf(request).role, "observe");
    const outages = stats.outages.filter(({ what }) => what !== "hub" || seesHubs);
    return renderStats({ ...stats, outages }, pool ?? null);
  });
}

function poolStatsRoute(app: App, { broker, insight }: Context, questions: CallerShares): void {
  const schema = {
    tags: ["history"],
    summary: "The same for each pool, over a window: which pools kept requests waiting",
    querystring: PoolStatsQuery,
    response: { 200: PoolStats, ...problems(400, 503) },
  };
  app.get("/v1/stats/pools", { schema }, async (request) => {
    using _share = questions.take(request);
    const range = rangeOf(request.query, broker.now());
    return renderPoolStats(range, await insight.ask("statsByPool", range).catch(historyProblem));
  });
}

/** What statistics of a pool depend on, besides its name. */
function factsOf(pools: State["pools"], name: string | undefined) {
  const pool = name === undefined ? undefined : pools.get(name as PoolName);
  const hasHubs = name === undefined || (pool !== undefined && pool.clusters !== null);
  if (pool === undefined || !isOnlyLimit(pool)) return { limited: undefined, hasHubs };
  const below = Array.from(descendants(pool), (one) => one.name);
  return { limited: { pools: below, limit: limitOf(pool) }, hasHubs };
}

const dayMs = 24 * 3_600_000;

function rangeOf(query: Static<typeof StatsQuery>, now: number) {
  const windowRange = { minMs: 1_000, maxMs: limits.statsWindowMsMax };
  const windowMs =
    query.window === undefined ? dayMs : durationIn("query.window", query.window, windowRange);
  const minMs = Math.max(1_000, Math.ceil(windowMs / limits.statsStepsMax));
  const stepMs =
    query.step === undefined
      ? Math.max(1_000, Math.round(windowMs / 24))
      : durationIn("query.step", query.step, { minMs, maxMs: windowRange.maxMs });
  // What has not happened yet is in no statistic.
  const to = Math.min(now, momentIn("query.until", query.until, now) ?? now);
  return { from: to - windowMs, to, stepMs };
}

function accuracyRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["history"],
    summary: "How often estimates were right, since the server was started",
    response: { 200: EstimateAccuracy },
  };
  app.get("/v1/estimates", { schema }, async () => {
    const waiting = await broker.read(({ requests }) => requests.size);
    const { accuracy } = insight.estimates;
    return {
      estimated: insight.estimates.size,
      waiting,
      total: renderAccuracies(accuracy.total),
      pools: Array.from(accuracy.pools(), ([pool, one]) => ({ pool, ...renderAccuracies(one) })),
    };
  });
}

function renderAccuracies({ latest, ...all }: Accuracies) {
  return { ...renderAccuracy(all), latest: renderAccuracy(latest) };
}

function renderAccuracy({ meanErrorMs, ...counts }: Accuracy) {
  return { ...counts, meanErrorSeconds: Math.round(meanErrorMs) / 1_000 };
}

/** 503: too many questions wait, or the past cannot be read. Anything else is thrown on. */
export function historyProblem(error: unknown): never {
  const no = (code: string, message: string, hint: string) =>
    new Problem({ code, status: 503, message, hint }, error);
  if (error instanceof StatsWorkerBusy) {
    throw no(
      "history_busy",
      "Cannot look into history: too many questions wait to be answered",
      "Try again in a moment, or ask about a shorter time",
    );
  }
  if (error instanceof HistoryUnavailable) {
    throw no(
      "history_unavailable",
      "Cannot look into history: its file cannot be read",
      "Lending goes on. Operators: the log has the cause, and the guide to history what to do",
    );
  }
  throw error;
}
