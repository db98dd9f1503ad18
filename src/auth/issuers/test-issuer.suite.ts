/** A service that signs tokens, on loopback, with all that can go wrong at one. */
import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import type { IssuerSpec, RuleSpec } from "../issuer-spec.ts";

export const audience = "https://berth.example.org";

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function makeKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

export class TestIssuer implements AsyncDisposable {
  readonly url: string;
  /** The keys that it publishes. */
  keys: SigningKey[];
  /** The paths that were fetched. */
  readonly fetched: string[] = [];
  /** Answers instead of the documents: an outage, a huge document and so on. */
  trouble: ((response: ServerResponse) => void) | undefined;
  readonly #fetches = new EventEmitter();
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, keys: SigningKey[]) {
    this.#server = server;
    this.keys = keys;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", ({ url = "" }, response: ServerResponse) => {
      this.fetched.push(url);
      this.#fetches.emit(url);
      if (this.trouble === undefined) response.end(this.#answer(url));
      else this.trouble(response);
    });
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TestIssuer(server, [await makeKey("first")]);
  }

  #answer(url: string): string {
    if (url === "/keys") return JSON.stringify({ keys: this.keys.map((key) => key.publicJwk) });
    return JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` });
  }

  async nextFetch(path: string): Promise<void> {
    await once(this.#fetches, path);
  }

  /** How often the keys were fetched. */
  get keyFetches(): number {
    return this.fetched.filter((path) => path === "/keys").length;
  }

  spec(rules: readonly RuleSpec[] = [everyone]): IssuerSpec {
    return { issuer: this.url, audience, proof: { type: "discovery" }, rules };
  }

  /** A token that lives for five minutes. */
  async sign(nowMs: number, more: object = {}, key = this.keys[0]): Promise<string> {
    if (key === undefined) throw new Error("The issuer has no key");
    return signWith(key, nowMs, { iss: this.url, sub: "job:1", ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

export const everyone: RuleSpec = { claims: { sub: "*" }, space: "team", role: "holder" };

export function times(nowMs: number): { iat: number; exp: number } {
  const iat = Math.floor(nowMs / 1_000);
  return { iat, exp: iat + 300 };
}

/** A token for our audience that lives for five minutes, unless its claims say otherwise. */
export async function signWith(
  { kid, privateKey, publicJwk }: SigningKey,
  nowMs: number,
  claims: object,
): Promise<string> {
  return new SignJWT({ aud: audience, ...times(nowMs), ...claims })
    .setProtectedHeader({ alg: String(publicJwk.alg), kid })
    .sign(privateKey);
}
