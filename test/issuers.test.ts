/** A server that knows callers by the tokens of a real OpenID provider, over its whole life. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { Provider } from "oidc-provider";
import { expect, test } from "vitest";
import { Problem } from "../src/api/problem.ts";
import { Authenticator } from "../src/auth/authenticator.ts";
import { issuerLimits } from "../src/auth/issuers/limits.ts";
import { TestServer } from "./cli-processes.ts";

const audience = "https://berth.example.org";
const secret = "the-secret-of-the-client";

async function makeKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

/** An OpenID provider in this process. It signs with the first of its keys, and publishes all. */
class OpenIdProvider implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  #answer: RequestListener = () => {};

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => this.#answer(request, response));
  }

  static async start(...keys: readonly JWK[]): Promise<OpenIdProvider> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const provider = new OpenIdProvider(server);
    provider.useKeys(...keys);
    return provider;
  }

  useKeys(...keys: readonly JWK[]): void {
    const resource = {
      scope: "lease",
      audience,
      accessTokenTTL: 300,
      accessTokenFormat: "jwt",
      jwt: { sign: { alg: "RS256" } },
    };
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: "ci-payments",
          client_secret: secret,
          grant_types: ["client_credentials"],
          redirect_uris: [],
          response_types: [],
        },
      ],
      scopes: ["lease"],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: { enabled: true, getResourceServerInfo: () => resource },
      },
      jwks: { keys },
    });
    this.#answer = provider.callback();
  }

  goDown(): void {
    this.#answer = (request) => request.socket.destroy();
  }

  /** What a job does to get its token. */
  async token(): Promise<string> {
    const response = await fetch(`${this.url}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`ci-payments:${secret}`)}` },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        resource: audience,
        scope: "lease",
      }),
    });
    const { access_token: token } = Object(await response.json());
    expect(token, "the provider gave a token").toMatch(/^eyJ/);
    return token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const authOf = ({ url }: OpenIdProvider) => {
  const rules = [{ claims: { client_id: "ci-*" }, space: "{client_id}", role: "holder" as const }];
  return { issuer: url, audience, rules };
};

test("a server accepts the tokens of an OpenID provider, also while the provider is down", async () => {
  const [first, second] = [await makeKey("first"), await makeKey("second")];
  await using provider = await OpenIdProvider.start(first);
  const config = { pools: { aws: { count: 1 } }, auth: { issuers: [authOf(provider)] } };
  await using server = await TestServer.startWith(config);
  const whoami = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return Object(await (await fetch(`${server.url}/v1/whoami`, { headers })).json());
  };
  const token = await provider.token();
  expect(await whoami(token)).toMatchObject({
    name: "ci-payments",
    space: "ci-payments",
    role: "holder",
    proof: "issuer",
  });
  // Providers publish a key before they sign with it.
  provider.useKeys(first, second);
  const before = await provider.token();
  provider.goDown();
  expect(await whoami(before)).toMatchObject({ name: "ci-payments" });
  expect(await whoami(token)).toMatchObject({ name: "ci-payments" });
  expect(server.log).not.toContain(token.split(".")[2]);
});

test("a rotated key is found, and one that is gone is refused, by the discovery of a provider", async () => {
  const [first, second] = [await makeKey("first"), await makeKey("second")];
  await using provider = await OpenIdProvider.start(first);
  let aheadMs = 0;
  const issuers = [{ ...authOf(provider), proof: { type: "discovery" as const } }];
  const auth = new Authenticator({ tokens: [], issuers }, () => Date.now() + aheadMs);
  const call = async (token: string) => {
    try {
      return (await auth.authenticate(`Bearer ${token}`)).name;
    } catch (error) {
      return error instanceof Problem ? error.status : error;
    }
  };
  const old = await provider.token();
  expect(await call(old)).toBe("ci-payments");
  provider.useKeys(second);
  aheadMs = issuerLimits.coolDownMs;
  expect(await call(await provider.token())).toBe("ci-payments");
  expect(await call(old)).toBe(401);
  const young = await provider.token();
  provider.goDown();
  aheadMs += issuerLimits.coolDownMs;
  expect(await call(young)).toBe("ci-payments");
});
