import { createHash } from "node:crypto";
import type { Claim } from "../../core/model/state.ts";

/** The limit of Kubernetes for a DNS label. */
const lengthMax = 63;
const hashLength = 16;
const hashed = new RegExp(`-[0-9a-f]{${hashLength}}$`);

/**
 * Returns the object name for a claim. An exclusive resource always has the same object, whose
 * holder changes. On a shared resource, each claim has its own object.
 *
 * Resource names may be longer than object names and may contain characters that Kubernetes does
 * not allow. A name that had to be changed, or that looks as if it had a hash, ends with a hash of
 * the original. So no two resources get the same name.
 */
export function objectName(prefix: string, { id, lease, resource, amount }: Claim): string {
  const share = amount === null ? "" : `\n${lease.id}\n${id}`;
  const plain = `${prefix}-${resource.name.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-")}`;
  const kept = plain === `${prefix}-${resource.name}` && !/-$/.test(plain) && !hashed.test(plain);
  if (kept && share === "" && plain.length <= lengthMax) return plain;
  const hash = createHash("sha256").update(`${resource.name}${share}`).digest("hex");
  const room = lengthMax - hashLength - 1;
  return `${plain.slice(0, room).replace(/-+$/, "")}-${hash.slice(0, hashLength)}`;
}
