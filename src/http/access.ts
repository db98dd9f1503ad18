/**
 * Who may call what. Every route has a row here; a route without one does not start. A test calls
 * every route with every role.
 */
import type { Action } from "../auth/roles.ts";

/** A route that the token of the lease or request in its path opens. */
export interface LeaseAccess {
  readonly leaseToken: true;
  /** The caller needs no token of the lease if its role allows this. */
  readonly or?: Action;
  /** With `force=true` the caller's role must allow this. */
  readonly forced?: Action;
  /** Its answer or body is a secret, so a refusal is recorded in the audit. */
  readonly secret?: true;
}

/** `open`: needs no credentials. */
export type Access = "open" | Action | LeaseAccess;

const byLease: LeaseAccess = { leaseToken: true };
const byLeaseSecret: LeaseAccess = { leaseToken: true, secret: true };
const byLeaseOrReader: LeaseAccess = { leaseToken: true, or: "read" };
const byLeaseOrForce: LeaseAccess = { leaseToken: true, forced: "operate" };

/** Methods and paths as the routes are registered. `ALL` stands for every method. */
const table: Readonly<Record<string, Access>> = {
  "POST /v1/leases": "ask",
  "GET /v1/leases": "read",
  "GET /v1/leases/:id": byLeaseOrReader,
  "DELETE /v1/leases/:id": byLeaseOrForce,
  "POST /v1/leases/:id/heartbeat": byLease,
  "POST /v1/leases/:id/signal": byLease,
  "POST /v1/leases/:id/refresh": byLease,
  "DELETE /v1/leases/:id/claims/:claim": byLease,
  "GET /v1/leases/:id/claims/:claim/access": byLeaseSecret,
  "PUT /v1/leases/:id/claims/:claim/access": byLeaseSecret,
  "POST /v1/leases/:id/claims/:claim/replace": byLease,
  "POST /v1/leases/:id/claims/:claim/report": byLease,
  "PUT /v1/leases/:id/claims/:claim/logs": byLease,
  "GET /v1/leases/:id/claims/:claim/credentials": byLeaseSecret,
  "GET /v1/requests": "read",
  // Who knows the request id gets the token, as with POST /v1/leases.
  "POST /v1/requests/resume": "ask",
  "GET /v1/requests/:id": byLeaseOrReader,
  "DELETE /v1/requests/:id": byLeaseOrForce,
  "PUT /v1/requests/:id/priority": "operate",
  "GET /v1/explain/:id": byLeaseOrReader,
  "GET /v1/pools": "read",
  "GET /v1/pool-changes": "read",
  "GET /v1/pools/:name": "read",
  "PUT /v1/pools/:name/pin": "operate",
  "DELETE /v1/pools/:name/pin": "operate",
  "GET /v1/pools/:name/limit-history": "read",
  "GET /v1/pools/:name/plan": "read",
  "GET /v1/resources": "read",
  "GET /v1/resources/:name": "read",
  "PATCH /v1/resources/:name": "operate",
  "GET /v1/templates": "read",
  "GET /v1/templates/:name": "read",
  "GET /v1/clusters": "read",
  "GET /v1/clusters/:name": "read",
  "GET /v1/clusters/:name/logs": "read",
  "PUT /v1/clusters/:name": "operate",
  "DELETE /v1/clusters/:name": "operate",
  "PUT /v1/clusters/:name/access": "clean",
  "POST /v1/clusters/:name/lost": "clean",
  "PUT /v1/clusters/:name/hold": "operate",
  "DELETE /v1/clusters/:name/hold": "operate",
  "POST /v1/clusters/:name/abandon": "operate",
  "GET /v1/hubs": "observe",
  "GET /v1/hubs/:name": "observe",
  "GET /v1/hubs/:name/clusters": "observe",
  "PUT /v1/hubs/:name/state": "operate",
  "PUT /v1/hubs/:name/probe": "clean",
  "PUT /v1/hubs/:name/clusters": "clean",
  "GET /v1/orphans": "observe",
  "POST /v1/orphans": "clean",
  "GET /v1/templates/:name/credentials": "clean",
  "PUT /v1/template-checks": "clean",
  "GET /v1/credential-checks": "clean",
  "PUT /v1/credential-checks/:id": "clean",
  "GET /v1/costs": "read",
  "GET /v1/credentials": "ask",
  "PUT /v1/credentials/:name": "ask",
  "DELETE /v1/credentials/:name": "ask",
  "GET /v1/spaces": "read",
  "GET /v1/attention": "read",
  "GET /v1/config": "read",
  "GET /v1/replicas": "read",
  "GET /v1/events": "read",
  "GET /v1/events/past": "read",
  "GET /v1/history": "read",
  "GET /v1/audit": "operate",
  "GET /v1/stats": "read",
  "GET /v1/stats/pools": "read",
  "GET /v1/estimates": "read",
  "GET /v1/trends": "read",
  "GET /v1/search": "read",
  "GET /v1/simulate": "observe",
  "POST /v1/simulate": "observe",
  "POST /v1/simulate/compare": "observe",
  "GET /v1/whoami": "open",
  "GET /v1/sign-in": "open",
  "POST /v1/sign-in": "open",
  "POST /v1/sign-in/finish": "open",
  "POST /v1/session": "open",
  "DELETE /v1/session": "open",
  "GET /metrics": "observe",
  "GET /healthz": "open",
  "GET /readyz": "open",

  // Boskos, and the capacity manager's calls on the same paths.
  "ALL /acquire": "ask",
  "ALL /acquirebystate": "clean",
  "ALL /release": "ask",
  "ALL /update": "ask",
  "ALL /reset": "clean",
  "ALL /metric": "read",
  "ALL /show-pools": "read",
  "ALL /lease/acquire": "ask",
  "ALL /lease/release": "ask",
  "ALL /lease/*": "open",

  // Pages without any data; what they show comes from the calls above.
  "GET /": "open",
  "GET /assets/*": "open",
  "GET /docs*": "open",
  "GET /openapi.json": "open",
  // The shell client, which has no secrets.
  "GET /client.sh": "open",
};

/** Throws if nobody has declared who may call the route. */
export function accessOf(method: string, path: string): Access {
  const row = table[`${method} ${path}`] ?? table[`ALL ${path}`] ?? pageAccess(method, path);
  if (row === undefined) {
    throw new Error(
      `Cannot serve ${method} ${path}: src/http/access.ts does not say who may call it`,
    );
  }
  return row;
}

/** The rows for many files. */
function pageAccess(method: string, path: string): Access | undefined {
  if (method !== "GET") return undefined;
  if (path.startsWith("/assets/")) return table["GET /assets/*"];
  return path === "/docs" || path.startsWith("/docs/") ? table["GET /docs*"] : undefined;
}
