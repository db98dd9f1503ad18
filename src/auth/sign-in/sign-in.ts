/**
 * Sign-in of people to the page: the authorization code flow with PKCE. What must be remembered
 * between the two halves (state, nonce, verifier) is sealed and given to the page, which keeps it in
 * the storage of its own origin and tab. So no other page, no other port of this host and no other
 * tab can finish a sign-in that it has not begun.
 */
import { readFile } from "node:fs/promises";
import type { Configuration, ServerMetadata } from "openid-client";
import { Problem } from "../../api/problem.ts";
import type { Authenticator } from "../authenticator.ts";
import type { IssuerSpec, SecretPlace, SignInSpec } from "../issuer-spec.ts";
import { claimsOf } from "../issuers/unverified.ts";
import type { Principal } from "../principal.ts";
import { issuerUnavailable } from "../refusals.ts";
import { Sealer } from "../sealer.ts";
import { type SignedIn, sessionMs } from "../sessions.ts";
import { clientOf, describeTrouble, discover, isOutage, loadOpenIdClient } from "./provider.ts";
import { sessionClaims } from "./session-claims.ts";
import {
  clocksDiffer,
  notForPeople,
  signInDenied,
  signInFailed,
  signInLost,
} from "./sign-in-problems.ts";

/** For the password, a second factor and consent. */
export const signInMs = 600_000;
/** How long a discovery document is used. */
const metadataMs = 300_000;

interface Transaction {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly untilMs: number;
}

export interface Started {
  /** Where the browser goes. */
  readonly location: string;
  /** For `finish`; only the server can read it. */
  readonly transaction: string;
}

export interface Finished {
  readonly principal: Principal;
  readonly signedIn: SignedIn;
  /** How long the session lasts unused, and at most. */
  readonly sessionMs: number;
  readonly mostMs: number;
}

type ForPage = IssuerSpec & { readonly signIn: SignInSpec & { readonly client: string } };

export class SignIn {
  readonly #auth: Authenticator;
  readonly #sealer: Sealer<Transaction>;
  readonly #nowMs: () => number;
  /** Logs why a sign-in has failed. */
  readonly #report: (issuer: string, why: string) => void;
  readonly #metadata = new Map<string, { readonly found: ServerMetadata; readonly atMs: number }>();

  constructor(
    auth: Authenticator,
    secret: string,
    nowMs: () => number = Date.now,
    report: (issuer: string, why: string) => void = () => {},
  ) {
    this.#auth = auth;
    this.#sealer = new Sealer(secret, "berth sign-in");
    this.#nowMs = nowMs;
    this.#report = report;
  }

  async start(issuer: string, redirectUri: string): Promise<Started> {
    const spec = this.#find(issuer);
    const { buildAuthorizationUrl, ...random } = await loadOpenIdClient();
    const client = await this.#clientOf(spec);
    const [state, nonce] = [random.randomState(), random.randomNonce()];
    const verifier = random.randomPKCECodeVerifier();
    const location = buildAuthorizationUrl(client, {
      redirect_uri: redirectUri,
      scope: spec.signIn.scopes.join(" "),
      ...{ state, nonce, code_challenge_method: "S256" },
      code_challenge: await random.calculatePKCECodeChallenge(verifier),
    });
    const untilMs = this.#nowMs() + signInMs;
    const kept = { issuer, redirectUri, state, nonce, verifier, untilMs };
    return { location: location.href, transaction: this.#sealer.seal(kept) };
  }

  /** `answer`: the query with which the issuer has sent the browser back. Throws a Problem. */
  async finish(transaction: string, answer: string): Promise<Finished> {
    const begun = this.#sealer.open(transaction);
    if (begun === undefined) throw signInLost("this server did not begin it");
    if (!(begun.untilMs > this.#nowMs())) throw signInLost("it took longer than ten minutes");
    const spec = this.#find(begun.issuer);
    const query = new URLSearchParams(answer);
    if (query.getAll("state").join() !== begun.state) {
      throw signInLost("the answer belongs to another sign-in");
    }
    const idToken = await this.#exchange(spec, begun, query);
    // Checks the signature, the times and the rules, as for every token of the issuer.
    const principal = await this.#auth.authenticate(`Bearer ${idToken}`);
    const claims = claimsOf(idToken) ?? {};
    const { client } = spec.signIn;
    const endsMs = Number(claims["exp"]) * 1_000;
    // Not longer than the token lasts for the issuer, whose clock may be ahead.
    const issuedMs = Number(claims["iat"] ?? 0) * 1_000;
    const leftMs = endsMs - Math.max(this.#nowMs(), issuedMs);
    return {
      principal,
      signedIn: { issuer: spec.issuer, client, claims: sessionClaims(spec, claims) },
      sessionMs: spec.signIn.sessionMs ?? Math.max(1_000, Math.min(leftMs, sessionMs)),
      mostMs: spec.signIn.sessionMs ?? sessionMs,
    };
  }

  /** Where a user ends the session at the issuer as well; undefined if the issuer has no such page. */
  async signOutUrl({ issuer, client }: SignedIn, returnTo: string): Promise<string | undefined> {
    try {
      const spec = this.#find(issuer);
      const metadata = await this.#metadataOf(spec);
      if (metadata.end_session_endpoint === undefined) return undefined;
      const { buildEndSessionUrl } = await loadOpenIdClient();
      const parameters = { post_logout_redirect_uri: returnTo };
      return buildEndSessionUrl(await clientOf(metadata, client), parameters).href;
    } catch (error) {
      if (error instanceof Problem) return undefined; // It is gone, or does not answer.
      throw error;
    }
  }

  async #exchange(spec: ForPage, begun: Transaction, query: URLSearchParams): Promise<string> {
    const { title } = spec.signIn;
    const client = await this.#clientOf(spec);
    const { authorizationCodeGrant, AuthorizationResponseError, ResponseBodyError } =
      await loadOpenIdClient();
    const url = new URL(begun.redirectUri);
    url.search = query.toString();
    try {
      const tokens = await authorizationCodeGrant(client, url, {
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.verifier,
        idTokenExpected: true,
      });
      return tokens.id_token ?? "";
    } catch (error) {
      if (error instanceof AuthorizationResponseError) throw signInDenied(title, error.error);
      this.#report(spec.issuer, describeTrouble(error));
      if (isOutage(error)) throw issuerUnavailable(spec.issuer);
      if (error instanceof ResponseBodyError && error.error === "invalid_grant") {
        throw signInLost("the code was used before, or is too old");
      }
      const { code } = error as { code?: unknown };
      throw code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED"
        ? clocksDiffer(title, issuedAtOf(error), this.#nowMs())
        : signInFailed(title, `and this server do not agree (${describeTrouble(error)})`);
    }
  }

  #find(issuer: string): ForPage {
    const found = this.#auth.issuersForPeople.find((spec): spec is ForPage => {
      return spec.issuer === issuer && spec.signIn?.client !== undefined;
    });
    if (found === undefined) throw notForPeople(issuer);
    return found;
  }

  async #clientOf(spec: ForPage): Promise<Configuration> {
    const { client, secret, title } = spec.signIn;
    let text: string | undefined;
    try {
      text = secret && (await readSecret(secret));
    } catch (error) {
      this.#report(spec.issuer, `the secret of the client: ${describeTrouble(error)}`);
      throw signInFailed(title, "cannot be asked: the secret of the client is missing");
    }
    return clientOf(await this.#metadataOf(spec), client, text);
  }

  async #metadataOf({ issuer }: IssuerSpec): Promise<ServerMetadata> {
    const known = this.#metadata.get(issuer);
    if (known !== undefined && Math.abs(this.#nowMs() - known.atMs) < metadataMs)
      return known.found;
    try {
      const found = await discover(issuer);
      this.#metadata.set(issuer, { found, atMs: this.#nowMs() });
      return found;
    } catch (error) {
      this.#report(issuer, describeTrouble(error));
      throw issuerUnavailable(issuer);
    }
  }
}

/** When the issuer has signed the token that was refused for its times, by the issuer's clock. */
function issuedAtOf(error: unknown): number | undefined {
  const { cause } = error as { cause?: { cause?: { claims?: { iat?: unknown } } } };
  const iat = cause?.cause?.claims?.iat;
  return typeof iat === "number" ? iat * 1_000 : undefined;
}

async function readSecret(place: SecretPlace): Promise<string> {
  const text = place.type === "file" ? await readFile(place.path, "utf8") : process.env[place.name];
  const secret = text?.trim() ?? "";
  if (secret !== "") return secret;
  throw new Error(place.type === "file" ? "the file is empty" : `${place.name} is not set`);
}
