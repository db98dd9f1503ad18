import { createHash } from "node:crypto";
import type { Claim } from "../../core/model/state.ts";

/** What Kubernetes allows a label of a name in DNS. */
const lengthMax = 63;
const hashLength = 16;
const hashed = new RegExp(`-[0-9a-f]{${hashLength}}$`);

/**
 * What the object of a claim is called. A resource that one holder has at a time always has the same
 * name, and its object changes hands with it; where many share a resource each share has its own.
 *
 * Names of resources have letters that those of objects have not, and may be longer. Whatever had to
 * be changed, or looks as if it had been, ends with a hash of what it was: so no two are the same.
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
