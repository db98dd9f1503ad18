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
  /** How people sign in through this issuer; absent: only programs have its tokens. */
  readonly signIn?: SignInSpec;
}

/** The clients that are registered at the issuer for people. */
export interface SignInSpec {
  /** What people call the issuer. */
  readonly title: string;
  /** The client id of the page; absent: nobody signs in to the page through this issuer. */
  readonly client?: string;
  /** Where the secret of the page's client is; absent: a public client. */
  readonly secret?: SecretPlace;
  /** The client id of `berth login`, which has no secret; absent: the issuer is not for it. */
  readonly cliClient?: string;
  readonly scopes: readonly string[];
  /** How long a session of the page lasts; absent: until the id token expires. */
  readonly sessionMs?: number;
}

/** The secret itself is in no configuration, and is read when it is used. */
export type SecretPlace =
  | { readonly type: "variable"; readonly name: string }
  | { readonly type: "file"; readonly path: string };

/** A token of the issuer must be for one of these. */
export function audiencesOf({ audience, signIn }: IssuerSpec): readonly string[] {
  const clients = [signIn?.client, signIn?.cliClient];
  return [...new Set([audience, ...clients].flatMap((one) => one ?? []))];
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
