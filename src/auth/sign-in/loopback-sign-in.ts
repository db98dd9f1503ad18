/** Sign-in in a browser of this machine, which comes back to a port on loopback (RFC 8252), with PKCE. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerMetadata } from "openid-client";
import { grant, type PersonClient, type PersonTokens, scopeFor } from "./person-tokens.ts";
import { loadOpenIdClient } from "./provider.ts";

const callbackPath = "/callback";

export async function signInByBrowser(
  metadata: ServerMetadata,
  client: PersonClient,
  show: (url: string) => void,
  signal: AbortSignal,
): Promise<PersonTokens> {
  const { buildAuthorizationUrl, authorizationCodeGrant, ...random } = await loadOpenIdClient();
  const [state, nonce] = [random.randomState(), random.randomNonce()];
  const verifier = random.randomPKCECodeVerifier();
  await using callback = await Callback.listen(state);
  // Awaited here: the port is closed when this function returns.
  return await grant(metadata, client, async (configuration) => {
    const scope = scopeFor(client, metadata);
    const location = buildAuthorizationUrl(configuration, {
      redirect_uri: callback.url,
      ...{ scope, state, nonce, code_challenge_method: "S256" },
      code_challenge: await random.calculatePKCECodeChallenge(verifier),
      // Issuers give a refresh token only if the person has agreed to it.
      ...(scope.includes("offline_access") ? { prompt: "consent" } : undefined),
    });
    show(location.href);
    const url = await callback.answer(signal);
    return authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
  });
}

/** Waits for the browser. Calls without the right state come from others, and are not answers. */
class Callback implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#handle(request, response));
  readonly #answered = Promise.withResolvers<URL>();
  readonly #state: string;

  private constructor(state: string) {
    this.#state = state;
    this.#answered.promise.catch(() => {}); // It may fail before anybody waits for it.
  }

  static async listen(state: string): Promise<Callback> {
    const callback = new Callback(state);
    callback.#server.listen(0, "127.0.0.1");
    await once(callback.#server, "listening");
    return callback;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${callbackPath}`;
  }

  async answer(signal: AbortSignal): Promise<URL> {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => this.#answered.reject(signal.reason), { once: true });
    return this.#answered.promise;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.parse(request.url ?? "", this.url);
    const isOurs =
      request.method === "GET" &&
      url?.pathname === callbackPath &&
      url.searchParams.get("state") === this.#state;
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    response.setHeader("connection", "close");
    response.statusCode = isOurs ? 200 : 404;
    const isDenied = url?.searchParams.has("error") ?? false;
    response.end(page(isOurs ? (isDenied ? texts.denied : texts.done) : texts.nothing));
    if (isOurs) this.#answered.resolve(url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The page must arrive before the connection is closed.
    this.#server.close();
    this.#server.closeIdleConnections();
  }
}

const texts = {
  done: "You can close this page and go back to the terminal.",
  denied: "The sign-in was not completed. The terminal says why.",
  nothing: "There is no sign-in here that this page belongs to.",
};

function page(text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>berth login</title><p>${text}</p></html>`;
}
