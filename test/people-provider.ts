/** A real OpenID provider where people sign in: any name is an account, and its own pages ask for it. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { Provider } from "oidc-provider";
import type { Page } from "playwright-core";

export const clientSecret = "people-client-secret-0123456789";
export const pageClient = "berth-page";
export const cliClient = "berth-cli";

/** What the tests change about the provider. */
export interface ProviderSettings {
  /** Where the page of the server is. */
  readonly pageUrl?: string;
  readonly idTokenSeconds?: number;
}

export class PeopleProvider implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #key: JWK;
  #answer: RequestListener = () => {};
  idTokenSeconds = 600;
  /** Changes or replaces what the provider answers. */
  trouble: RequestListener | undefined;

  private constructor(server: Server, key: JWK) {
    this.#server = server;
    this.#key = key;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      (this.trouble ?? this.#answer)(request, response);
    });
    this.configure({});
  }

  static async start(): Promise<PeopleProvider> {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: "people", alg: "RS256", use: "sig" };
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PeopleProvider(server, key);
  }

  /** The provider as it is without any trouble. */
  get answer(): RequestListener {
    return this.#answer;
  }

  /** Forgets everybody who is signed in. */
  configure({ pageUrl = "http://127.0.0.1:1", idTokenSeconds = 600 }: ProviderSettings): void {
    this.idTokenSeconds = idTokenSeconds;
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: pageClient,
          client_secret: clientSecret,
          redirect_uris: [`${pageUrl}/sign-in/callback`],
          post_logout_redirect_uris: [`${pageUrl}/`],
        },
        {
          client_id: cliClient,
          application_type: "native",
          token_endpoint_auth_method: "none",
          grant_types: [
            ...["authorization_code", "refresh_token"],
            "urn:ietf:params:oauth:grant-type:device_code",
          ],
          redirect_uris: ["http://127.0.0.1/callback"],
        },
      ],
      claims: { openid: ["sub"], email: ["email"], profile: ["name", "groups"] },
      conformIdTokenClaims: false,
      cookies: { keys: ["a key for the cookies of the provider"] },
      features: { deviceFlow: { enabled: true }, revocation: { enabled: true } },
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => person(accountId),
      }),
      jwks: { keys: [this.#key] },
      pkce: { required: () => true },
      ttl: { IdToken: () => this.idTokenSeconds, Session: 3_600, Grant: 3_600, Interaction: 3_600 },
    });
    this.#answer = provider.callback();
  }

  goDown(): void {
    this.trouble = (request) => request.socket.destroy();
  }

  comeBack(): void {
    this.trouble = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** `ann` is an operator, `bob` a holder; all others are in no group. */
function person(name: string): object {
  const groups = { ann: ["staff", "berth-operators"], bob: ["staff"] }[name] ?? [];
  return { sub: name, email: `${name}@example.org`, name: name.toUpperCase(), groups };
}

export function issuerFor({ url }: PeopleProvider, more: object = {}): object {
  return {
    issuer: url,
    signIn: {
      client: pageClient,
      secret: { file: "sign-in.secret" },
      cliClient,
      scopes: ["profile", "email"],
      title: "Acme account",
      ...more,
    },
    rules: [
      { claims: { groups: "berth-operators" }, space: "ops", role: "operator", name: "{email}" },
      { claims: { groups: "staff" }, space: "team", role: "holder", name: "{email}" },
    ],
  };
}

/** Fills in the pages of the provider, as a person does. */
export async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.locator('input[name="login"]').fill(name);
  await page.locator('input[name="password"]').fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  // It does not ask twice for consent.
  const consent = page.getByRole("button", { name: "Continue" });
  await consent.or(page.locator("#page")).first().waitFor();
  if (await consent.isVisible()) await consent.click();
}
