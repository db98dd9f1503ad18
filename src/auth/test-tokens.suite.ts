/** Tokens for tests: one for each role, named after it, and one more holder in another space. */
import type { SpaceName } from "../core/model/ids.ts";
import type { AuthSpec } from "./auth-spec.ts";
import { roles } from "./roles.ts";
import { tokenHash } from "./static-tokens.ts";

export const testTokens = {
  viewer: "viewer-0123456789abcdef",
  holder: "holder-0123456789abcdef",
  worker: "worker-0123456789abcdef",
  operator: "operator-0123456789abcdef",
  admin: "admin-0123456789abcdef",
} as const;

/** A holder in the space `other`; all others are in the space `team`. */
export const otherToken = "other-0123456789abcdef";

const space = "team" as SpaceName;

export const testAuth: AuthSpec = {
  tokens: [
    ...roles.map((role) => ({ name: role, sha256: tokenHash(testTokens[role]), space, role })),
    {
      name: "other",
      sha256: tokenHash(otherToken),
      space: "other" as SpaceName,
      role: "holder",
    },
  ],
};
