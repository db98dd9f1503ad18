import { Replicas } from "../api/replica-schemas.ts";
import type { Instant } from "../core/model/time.ts";
import type { KnownReplica } from "../journal/shared-journal.ts";
import type { App, Context } from "./context.ts";
import type { Peers } from "./relay/peers.ts";
import { problems } from "./responses.ts";
import { timestamp } from "./timestamp.ts";

export function replicaRoutes(app: App, { peers }: Context): void {
  const schema = {
    tags: ["page"],
    summary: "The servers on this journal: who leads, since when, and how far each follows",
    response: { 200: Replicas, ...problems(503) },
  };
  app.get("/v1/replicas", { schema }, async () => {
    return peers === undefined ? alone : renderReplicas(peers, await peers.replicas());
  });
}

const alone: Replicas = {
  ...{ self: null, leader: null, leadsSince: null, epoch: null },
  ...{ notified: false, staleSeconds: 0, replicas: [] },
};

function renderReplicas(peers: Peers, known: readonly KnownReplica[]): Replicas {
  const { standing } = peers;
  const leader = standing?.leader ?? null;
  // What was reported a moment ago may be more than this server has seen.
  const head = Math.max(standing?.head ?? 0, ...known.map(({ seq }) => seq));
  return {
    self: peers.id,
    leader: leader?.replica ?? null,
    leadsSince: leader === null ? null : timestamp(leader.sinceMs as Instant),
    epoch: standing?.epoch ?? null,
    notified: peers.isNotified,
    staleSeconds: Math.round(peers.staleMs) / 1_000,
    replicas: known.map(({ id, address, version, seq, startedAtMs, silentMs }) => ({
      ...{ id, address, version, leads: id === leader?.replica },
      startedAt: timestamp(startedAtMs as Instant),
      lastEvent: seq,
      behindEvents: head - seq,
      silentSeconds: silentMs / 1_000,
    })),
  };
}
