import type { Principal } from "./principal.ts";
import type { TokenSpec } from "./static-tokens.ts";

/** The section `auth` of the configuration. */
export interface AuthSpec {
  readonly tokens: readonly TokenSpec[];
  /** Whom a call without credentials comes from; absent: such a call is refused. */
  readonly anonymous?: Principal;
}
