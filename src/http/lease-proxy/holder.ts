import type { FastifyRequest } from "fastify";
import { limits } from "../../api/limits.ts";
import { callerAddress } from "../proxies.ts";

/**
 * Whose leases a call is about: what the header says, else the user of its credentials, else the machine
 * that it came from. Nothing is proven by it as long as there is no authentication.
 */
export function holderOf(request: FastifyRequest): string {
  const { headers } = request;
  const named = headers["berth-holder"];
  const holder =
    (typeof named === "string" ? named.trim() : "") ||
    userOf(headers.authorization ?? "") ||
    `lease-proxy@${callerAddress(request) || "unknown"}`;
  return holder.slice(0, limits.holderLengthMax);
}

function userOf(authorization: string): string {
  const [, encoded = ""] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  const [user = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return user;
}
