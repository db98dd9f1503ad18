/** Calls that may be sent again if nobody knows whether they had an effect. */
import type { SentCall } from "./send.ts";

const repeatableMethods = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "PATCH"]);

/** A request with an id of the client's own is made once, however often it is sent. */
export function isRepeatable({
  method,
  url,
  body,
}: Pick<SentCall, "method" | "url" | "body">): boolean {
  const [path = "", query = ""] = url.split("?");
  if (path.startsWith("/v1/")) {
    if (repeatableMethods.has(method) || path.endsWith("/heartbeat")) return true;
    return path === "/v1/leases" && hasRequestId(body);
  }
  if (path === "/metric" || path === "/show-pools" || path === "/update") return true;
  return /^\/acquire/.test(path) && (new URLSearchParams(query).get("request_id") ?? "") !== "";
}

function hasRequestId(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null && "requestId" in value;
  } catch {
    return false; // The leader refuses it.
  }
}
