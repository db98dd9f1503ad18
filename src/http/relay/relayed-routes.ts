/**
 * Which calls only the leader can answer: all that change something, and all whose answer has what no
 * event has (when a lease expires moves with heartbeats, which are not journalled).
 */
const leaderReads = /^\/v1\/(leases|requests|explain|resources)(\/|$)/;
/** These change nothing, or only what the caller's own browser keeps. */
const anyReplica = new Set([
  ...["POST /v1/session", "DELETE /v1/session"],
  ...["POST /v1/simulate", "POST /v1/simulate/compare"],
]);
const readingMethods = new Set(["GET", "HEAD", "OPTIONS"]);
/** Calls of Boskos, the capacity manager and the lease proxy, whatever their method is. */
const otherProtocols =
  /^\/(acquire|acquirebystate|release|update|reset|metric|show-pools|lease\/.*)$/;

/** `route`: the path as the route is registered; undefined if there is none. */
export function needsLeader(method: string, route: string | undefined): boolean {
  if (route === undefined) return false;
  if (otherProtocols.test(route)) return true;
  if (readingMethods.has(method)) return leaderReads.test(route);
  return !anyReplica.has(`${method} ${route}`);
}
