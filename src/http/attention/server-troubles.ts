/** What needs a person and is not in the state: the file, the journal, other servers, checks outside. */

import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { roughDuration } from "../../core/model/time.ts";
import type { KnownReplica } from "../../journal/shared-journal.ts";
import type { Context } from "../context.ts";
import type { Found } from "./group.ts";

const server = { kind: "server", name: "" } as const;

/** For those who may observe: problems quote the file, which names the spaces of others. */
export function configTroubles({ configStatus }: Pick<Context, "configStatus">): Found[] {
  const { ok, problems, warnings, checkedAt } = configStatus();
  const since = Date.parse(checkedAt) as Instant;
  const refused = ok
    ? []
    : problems.map((text): Found => ({ code: "config_refused", ...server, since, text }));
  const warned = warnings.map(
    (text): Found => ({ code: "config_warning", ...server, since: null, text }),
  );
  return [...refused, ...warned];
}

export function admissionTroubles(
  { pools }: State,
  { admission }: Pick<Context, "admission">,
): Found[] {
  const last = admission?.()?.last ?? new Map();
  return Array.from(pools.values()).flatMap(({ name, policy, waiting, admission: { why } }) => {
    if (policy.admission === undefined || waiting === 0) return [];
    if (last.get(name)?.found !== "unknown") return [];
    const text = why ?? "";
    return [{ code: "admission_check_fails", kind: "pool", name, pool: name, since: null, text }];
  });
}

/** More events than this are not applied within a moment. */
const lagMax = 5_000;

export function workTroubles({ broker, insight, mirror }: Context): Found[] {
  const { unwritable } = broker;
  const isStandby = broker.mode === "standby";
  const found: Found[] = [];
  const add = (code: Found["code"], text: string) =>
    found.push({ code, ...server, since: null, text });
  if (unwritable !== null && !isStandby) add("journal_not_writable", unwritable.message);
  if (insight.lag > lagMax) add("history_behind", `${insight.lag} events are not in it yet`);
  const figures = mirror?.();
  if (figures !== undefined && !figures.up) {
    add("mirror_fails", `${figures.behind} Lease objects do not say what is lent`);
  }
  return found;
}

export function lackTroubles({
  broker,
  templateReports,
  troubles,
}: Pick<Context, "broker" | "templateReports" | "troubles">): Found[] {
  const templates = templateReports.all(broker.now()).map(({ name, since, why: text }): Found => {
    return { code: "template_unusable", kind: "template", name, since, text };
  });
  const { fronts, takenFronts } = troubles?.() ?? { fronts: [], takenFronts: [] };
  const found = (code: Found["code"], lacks: typeof fronts) =>
    lacks.map(({ name, why: text }): Found => ({ code, kind: "server", name, since: null, text }));
  return [
    ...templates,
    ...found("objects_not_served", fronts),
    ...found("objects_of_another", takenFronts),
  ];
}

/** Servers report every second. */
const silentMsMax = 10_000;
/** How long ago a server may have reported, to be one that should be here. */
const goneMs = 3_600_000;

export async function replicaTroubles({
  peers,
  broker,
}: Pick<Context, "peers" | "broker">): Promise<Found[]> {
  if (peers === undefined) return [];
  const now = broker.now();
  const none: Found = { code: "no_leader", ...server, since: null, text: "no server leads" };
  const known = await peers.replicas().catch(() => []); // The call for them reports it.
  const silent = known
    .filter(({ silentMs }) => silentMs > silentMsMax && silentMs < goneMs)
    .filter((replica) => !isReplaced(replica, known))
    .map(({ id: name, silentMs }): Found => {
      const text = `it has not reported for ${roughDuration(silentMs)}`;
      return {
        code: "replica_behind",
        kind: "replica",
        name,
        since: (now - silentMs) as Instant,
        text,
      };
    });
  return (peers.standing?.leader ?? null) === null ? [none, ...silent] : silent;
}

/** A server that was killed and started again is a new replica at the same address. */
function isReplaced({ address, startedAtMs }: KnownReplica, all: readonly KnownReplica[]): boolean {
  if (address === null) return false;
  return all.some((other) => other.address === address && other.startedAtMs > startedAtMs);
}

const expiresSoonMs = 14 * 24 * 3_600_000;

/** For operators: the names of tokens are nobody else's business. */
export function tokenTroubles({ auth, broker }: Pick<Context, "auth" | "broker">): Found[] {
  const now = broker.now();
  return auth.tokensUntil(now + expiresSoonMs).map(({ name, expiresAtMs }) => {
    const leftMs = expiresAtMs - now;
    const text = leftMs <= 0 ? "it has expired" : `it expires in ${roughDuration(leftMs)}`;
    return { code: "token_expires", kind: "token", name, since: null, text };
  });
}
