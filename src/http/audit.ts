/** Who did what, for operators. */
import Type from "typebox";
import { AuditPage } from "../api/audit-schemas.ts";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { ways } from "../core/model/origin.ts";
import { AuditUnavailable } from "../insight/audit/audit.ts";
import { lineOf } from "../insight/audit/chain.ts";
import { ownActions } from "../insight/audit/entry.ts";
import { StatsWorkerBusy } from "../insight/stats-worker.ts";
import { knownTypes } from "../journal/format.ts";
import type { CallerShares } from "./caller-shares.ts";
import type { App, Context } from "./context.ts";
import { numberInCursor, pageFields, pageSizeOf } from "./paging.ts";
import { momentIn, momentText } from "./request.ts";
import { problems } from "./responses.ts";
import { unknownWord } from "./unknown-word.ts";

const filter = (description: string) =>
  Type.Optional(Type.String({ maxLength: limits.holderLengthMax, description }));

const Query = Type.Object(
  {
    by: filter("Only by this principal, or by callers that gave this name"),
    caller: filter(
      "Only by callers with this text in their names or space, in small or large letters, " +
        "such as night in operator (night shift)",
    ),
    space: filter("Only by callers of this space, or on its leases"),
    action: filter("Only this action, such as resource-changed"),
    kind: Type.Optional(
      Type.Literal("decisions", {
        description:
          "Only what somebody decided: changes with a reason or of the configuration, and what was refused; " +
          "not what jobs and the server do all the time",
      }),
    ),
    way: Type.Optional(
      Type.Union(
        [...ways, "unknown" as const].map((way) => Type.Literal(way)),
        { description: "Only what came this way" },
      ),
    ),
    pool: filter("Only of this pool"),
    resource: filter("Only of this resource"),
    lease: filter("Only of this request or lease"),
    text: filter("Only with this text in a name or reason, in small or large letters"),
    since: filter(momentText("At this time or later")),
    until: filter(momentText("Before this time")),
    order: Type.Optional(
      Type.Union([Type.Literal("newest"), Type.Literal("oldest")], {
        description: "Which entries come first; newest unless given",
      }),
    ),
    ...pageFields,
  },
  { additionalProperties: false },
);

export function auditRoute(app: App, { broker, insight }: Context, questions: CallerShares): void {
  const schema = {
    tags: ["audit"],
    summary: "Who changed what, when, which way, and why",
    description:
      "A page may be short or empty and still have a `next`: the search then continues there. " +
      "Each entry has the hash of the one before, and `anchor` is the last one",
    querystring: Query,
    response: { 200: AuditPage, ...problems(400, 503) },
  };
  app.get("/v1/audit", { schema }, async (request, reply) => {
    using _share = questions.take(request);
    const { limit, after, since, until, order, ...same } = request.query;
    mustBeAction(same.action);
    const now = broker.now();
    const search = {
      filter: {
        ...same,
        since: momentIn("query.since", since, now),
        until: momentIn("query.until", until, now),
      },
      limit: pageSizeOf(limit),
      after: numberInCursor(after),
      oldestFirst: order === "oldest",
    };
    const { items, next } = await insight.askAudit(search).catch(auditProblem);
    const { number, hash } = insight.audit.head;
    const rest = {
      next: next === null ? null : String(next),
      anchor: number === 0 ? null : { number, hash },
    };
    // The very text that the hashes are of.
    reply.type("application/json").serializer((text: string) => text);
    return reply.send(`{"items":[${items.map(lineOf).join(",")}],${JSON.stringify(rest).slice(1)}`);
  });
}

/** A misspelt action would find nothing, which reads as "it never happened". */
function mustBeAction(action: string | undefined): void {
  const known = [...knownTypes(), ...ownActions].sort();
  if (action === undefined || known.includes(action)) return;
  throw unknownWord("query.action", { kind: "action", given: action }, known);
}

function auditProblem(error: unknown): never {
  const no = (code: string, message: string, hint: string) =>
    new Problem({ code, status: 503, message, hint }, error);
  if (error instanceof StatsWorkerBusy) {
    throw no(
      "history_busy",
      "Cannot read the audit: too many questions wait to be answered",
      "Try again in a moment",
    );
  }
  if (error instanceof AuditUnavailable) {
    throw no(
      "audit_unavailable",
      "Cannot read the audit: its file cannot be read",
      "Lending goes on. Operators: the log has the cause, and the guide to security what to do",
    );
  }
  throw error;
}
