/** Who makes a change, and which way the call came. The broker records it with the events. */
import type { FastifyRequest } from "fastify";
import { commandLineAgent } from "../api/user-agent.ts";
import type { Origin, Way } from "../core/model/origin.ts";
import { isCapacityCall } from "./capacity/is-capacity-call.ts";

export function originOf(request: FastifyRequest): Origin {
  const { principal } = request;
  const way = wayOf(request);
  // On a route that the token of a lease opens, nobody is asked for more.
  if (principal === null) return { way, asHolder: true };
  // Nobody has proved anything while the server has no authentication.
  if (principal.space === undefined) return { way };
  return { way, by: principal.name, space: principal.space };
}

export function wayOf(request: FastifyRequest): Way {
  const path = request.routeOptions.url ?? "";
  if (path.startsWith("/v1/")) return nativeWay(request);
  if (path.startsWith("/lease/")) return "lease-proxy";
  return path === "/show-pools" || isCapacityCall(request) ? "capacity" : "boskos";
}

/** As the caller says itself: any program can send these headers. */
function nativeWay({ headers }: FastifyRequest): Way {
  if (headers["user-agent"]?.startsWith(commandLineAgent)) return "cli";
  // Browsers send this with every call of a page.
  return headers["sec-fetch-site"] === undefined ? "http" : "page";
}
