import { hostnameOfUrl, isLoopbackName } from "../api/loopback.ts";

/** True if nobody between this machine and the address can replace what it answers. */
export function isProtectedUrl(text: string): boolean {
  const host = hostnameOfUrl(text);
  if (host === undefined) return false;
  const { protocol } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && isLoopbackName(host));
}
