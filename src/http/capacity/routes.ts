/**
 * The early HTTP API of the vSphere capacity manager, which its clients still speak: `POST /acquire`
 * with a JSON body, `/show-pools` and `/release`. Nobody waits here: what is not there now is refused.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import { newRequestId } from "../../broker/lease-identity.ts";
import { fittingNow } from "../../core/explain/explain-capacity.ts";
import { sharedResourceViews } from "../../core/explain/resource-view.ts";
import type { Ask } from "../../core/model/command.ts";
import type { ClaimId, PoolName, RequestId } from "../../core/model/ids.ts";
import type { Claim, Pool, State } from "../../core/model/state.ts";
import type { Placing } from "../../core/shared/placement/demand.ts";
import { askIn, callerOf } from "../authorize.ts";
import { bodyText, sendJson, sendNothing, sendText } from "../boskos/wire.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { sightOf } from "../sight.ts";
import { leaseJson, networksKind, poolJson } from "./lease-json.ts";
import { BadRequest, type CapacityRequest, parseFirst, readRequest } from "./request.ts";

/** After this long a lease is taken back, whether or not its holder still uses it. */
const reapedAfterMs = 24 * 3_600_000;

/** Known by name: its clients have no token. */
const holder = "capacity-api";

const noPools = "error acquiring lease: no pools with enough resources";
const noVcenters =
  "error acquiring lease: required number of vCenters exceeds the number of fitting pools";

export function showPoolsRoute(app: App, context: Context): void {
  app.route({
    method: [...app.supportedMethods],
    url: "/show-pools",
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async (request, reply) => {
      const pools = await context.broker.read((state) => {
        // Its leases have the attributes of parts, which only their holders may see.
        const sees = sightOf(state, callerOf(request).space);
        return sharedResourceViews(state).map((resource) => {
          const claims = resource.claims.filter(({ lease }) => sees(lease.id));
          return poolJson({ ...resource, claims }, context.startedAtMs);
        });
      });
      return sendJson(reply, JSON.stringify(pools));
    },
  });
}

export async function acquire(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { broker, startedAtMs } = context;
  const wanted = readOrRefuse(bodyText(request), reply);
  if (wanted === undefined) return reply;
  const pool = await broker.read((state) => poolFor(state, wanted)?.name);
  if (pool === undefined) return sendText(reply, { status: 500, text: noPools });
  const id = newRequestId(broker.now());
  const ask = askIn(callerOf(request), askOf(pool, wanted));
  const outcome = await broker.submit(
    { type: "acquire", id, ask, waitMs: 0, nowOnly: true },
    originOf(request),
  );
  if (outcome.type !== "granted") {
    const text = await broker.read((state) => failureText(state.pools.get(pool), wanted));
    return sendText(reply, { status: 500, text });
  }
  const { lease } = outcome;
  const leases = lease.claims.map((claim) => leaseJson(lease, claim, startedAtMs));
  return sendJson(reply, JSON.stringify(leases));
}

function readOrRefuse(body: string, reply: FastifyReply): CapacityRequest | undefined {
  try {
    return readRequest(body);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    sendText(reply, { status: 400, text: error.message });
    return undefined;
  }
}

/** The pool that has the resource asked for by name; otherwise the first that is lent by amount. */
function poolFor(state: State, { requiredPool }: CapacityRequest): Pool | undefined {
  const shared = [...state.pools.values()].filter(
    ({ policy, retired }) => policy.placement !== undefined && !retired,
  );
  const has = ({ members }: Pool) => [...members].some(({ name }) => name === requiredPool);
  return requiredPool === undefined ? shared[0] : (shared.find(has) ?? shared[0]);
}

function placingOf({ vcpus, memory, storage, networks, requiredPool }: CapacityRequest): Placing {
  return {
    amount: { vcpus, memory, storage, [networksKind]: networks ?? 1 },
    ...(networks === undefined ? { optional: [networksKind] } : undefined),
    ...(requiredPool === undefined ? undefined : { resource: requiredPool }),
  };
}

function askOf(pool: PoolName, wanted: CapacityRequest): Ask {
  const { vcenters, boskosLeaseId } = wanted;
  const count = Math.max(1, vcenters);
  const spread = count > 1 ? { spread: "vcenter" } : undefined;
  return {
    holder: boskosLeaseId === "" ? holder : `${holder}/${boskosLeaseId}`,
    items: [{ pool, count, ...placingOf(wanted), ...spread }],
    ttlMs: null,
    lifetimeMs: reapedAfterMs,
    byName: true,
    labels: {
      "capacity/vcenters": String(vcenters),
      ...(boskosLeaseId === "" ? undefined : { "capacity/boskos-lease-id": boskosLeaseId }),
    },
    ...(boskosLeaseId === ""
      ? undefined
      : { group: { name: `${holder}/${boskosLeaseId}`, size: 1 } }),
  };
}

/** The two texts that there are: nothing fits, or too little does. */
function failureText(pool: Pool | undefined, wanted: CapacityRequest): string {
  if (pool === undefined) return noPools;
  return fittingNow(pool, placingOf(wanted)) === 0 ? noPools : noVcenters;
}

/** Takes a lease, a list of them, or a name; giving back what is not there is fine. */
export async function release(
  { broker }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  let names: string[];
  try {
    names = namesIn(parseFirst(bodyText(request)));
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return sendText(reply, { status: 400, text: error.message });
  }
  for (const name of names) {
    const found = await broker.read((state) => {
      const claim = claimOf(state, name);
      const { space } = callerOf(request);
      return claim !== undefined && sightOf(state, space)(claim.id) ? claim : undefined;
    });
    if (found !== undefined) {
      await broker.submit({ type: "release", ...found }, originOf(request));
    }
  }
  return sendNothing(reply);
}

/** Lists may contain lists. Without recursion: a client could nest them too deeply for the stack. */
function namesIn(value: unknown): string[] {
  const names: string[] = [];
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (Array.isArray(next)) for (const item of next.toReversed()) rest.push(item);
    else names.push(...nameIn(next));
  }
  return names;
}

function nameIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    throw new BadRequest("cannot read the body: it is no lease");
  }
  const { name, metadata } = value as { name?: unknown; metadata?: { name?: unknown } };
  const found = name ?? metadata?.name;
  return typeof found === "string" ? [found] : [];
}

/** Only what was granted here: leases that have a token are ended with it. */
function claimOf(state: State, name: string): { id: RequestId; claim: ClaimId } | undefined {
  const [, id = "", number = ""] = /^(.+)\.(\d+)$/.exec(name) ?? [];
  const lease = state.leases.get(id as RequestId);
  if (lease === undefined || !isCapacityLease(lease)) return undefined;
  const claim = lease.claims.find((one) => one.id === number);
  return claim === undefined ? undefined : { id: lease.id, claim: claim.id };
}

function isCapacityLease({ ask }: Claim["lease"]): boolean {
  return ask.byName === true && ask.labels?.["capacity/vcenters"] !== undefined;
}
