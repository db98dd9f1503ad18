import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { answerClientError } from "../http/errors.ts";
import { CannotServe, exitCodes } from "./cannot-serve.ts";
import {
  describeListenError,
  type ListenAddress,
  type RawServer,
  urlOf,
} from "./listen-address.ts";

/** A second port with one answer, for probes and scrapers that expect it there. */
export class SideListener {
  readonly url: string;
  readonly #server: RawServer;

  private constructor(server: RawServer) {
    this.#server = server;
    this.url = urlOf(server);
  }

  /** `flag` is the option that set the address. Throws `CannotServe` if it cannot listen there. */
  static async start(
    flag: string,
    address: ListenAddress,
    answer: RequestListener,
    makeServer: (answer: RequestListener) => RawServer = createServer,
  ): Promise<SideListener> {
    const server = makeServer(answer);
    server.on("clientError", answerClientError);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject).listen(address, resolve);
    try {
      await promise;
    } catch (error) {
      const cause = describeListenError(error);
      if (cause === undefined) throw error;
      const message = `Cannot listen on ${address.host}:${address.port}: ${cause}`;
      const hint = `Choose another with ${flag} HOST:PORT`;
      throw new CannotServe(message, hint, exitCodes.unavailable, error);
    }
    return new SideListener(server);
  }

  /** Closes at once, because probes and scrapers call again anyway. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }
}

/**
 * `/healthz` succeeds as soon as the process runs, so that reading a long journal does not look
 * like a hang. `/healthz/ready` fails until the server is ready. `isAlive` is false if it hangs.
 */
export function healthAnswers(
  isReady: () => boolean,
  isAlive: () => boolean = () => true,
): RequestListener {
  return (request, response) => {
    const path = pathOf(request);
    if (path === "/healthz" && !isAlive()) return answerText(response, 503, hangs);
    const fine = path === "/healthz" || (path === "/healthz/ready" && isReady());
    answerText(response, fine ? 200 : 404, fine ? "OK" : notFound);
  };
}

/** Serves only this path of another listener, with the same answer. */
export function onlyPath(path: string, answer: RequestListener): RequestListener {
  return (request, response) => {
    if (pathOf(request) === path) answer(request, response);
    else answerText(response, 404, notFound);
  };
}

const hangs = "the server hangs\n";
const notFound = "404 page not found\n";

export function answerText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(text);
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}
