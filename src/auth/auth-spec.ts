import type { CertificateRule } from "./certificates.ts";
import type { FloodLimitsSpec } from "./flood-limits.ts";
import type { IssuerSpec } from "./issuer-spec.ts";
import type { Principal } from "./principal.ts";
import type { TokenSpec } from "./static-tokens.ts";

/** The section `auth` of the configuration. */
export interface AuthSpec {
  readonly tokens: readonly TokenSpec[];
  /** Services whose signed tokens are accepted; absent: none. */
  readonly issuers?: readonly IssuerSpec[];
  /** Who shows which client certificate; absent: certificates prove nothing. */
  readonly certificates?: readonly CertificateRule[];
  /** Whom a call without credentials comes from; absent: such a call is refused. */
  readonly anonymous?: Principal;
  /** Against floods; absent: the defaults. */
  readonly limits?: FloodLimitsSpec;
}
