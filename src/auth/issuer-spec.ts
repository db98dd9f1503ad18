import type { Role } from "./roles.ts";

/** One entry of `auth.issuers`: a service that signs tokens, such as a CI system or a cluster. */
export interface IssuerSpec {
  /** The claim `iss` of its tokens, compared as it is. */
  readonly issuer: string;
  /** The claim `aud` of its tokens must have this. */
  readonly audience: string;
  readonly proof: ProofSpec;
  /** Tried in order; the first that matches says who the caller is. */
  readonly rules: readonly RuleSpec[];
}

/** How a token of the issuer is verified. */
export type ProofSpec =
  /** With keys that the discovery document of the issuer names. */
  | { readonly type: "discovery" }
  | { readonly type: "keys-url"; readonly url: string }
  | { readonly type: "keys-file"; readonly path: string }
  /** By a question to a Kubernetes API server. */
  | { readonly type: "token-review"; readonly kubeconfig?: string; readonly context?: string };

export interface RuleSpec {
  /** Patterns with `*` by the name of a claim. All must match. */
  readonly claims: Readonly<Record<string, string>>;
  /** Text with claims in braces: `{repository_owner}`. */
  readonly space: string;
  readonly role: Role;
  /** Text with claims in braces; absent: the claim `sub`. */
  readonly name?: string;
}
