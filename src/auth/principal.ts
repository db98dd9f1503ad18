import type { SpaceName } from "../core/model/ids.ts";
import { mayDo, type Role } from "./roles.ts";

/** How a caller has proved who it is. */
export type Proof = "none" | "token" | "issuer" | "certificate";

/** Whoever a call comes from. */
export interface Principal {
  /** Recorded with every change. */
  readonly name: string;
  /** Undefined while the server has no authentication: then there are no spaces. */
  readonly space?: SpaceName;
  readonly role: Role;
  readonly proof: Proof;
}

/** Whether the principal may see the names of a space; undefined is a lease from before spaces. */
export function seesSpace(principal: Principal, space: SpaceName | undefined): boolean {
  return mayDo(principal.role, "observe") || principal.space === space;
}
