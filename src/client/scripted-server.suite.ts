/** An HTTP server on loopback that sends the responses of a script. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Lease, WaitingRequest } from "../api/schemas.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

export type Answer = (
  received: Received,
  response: ServerResponse,
  nth: number,
) => void | Promise<void>;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** Resolves with the first matching request, past or future. */
  until(fits: (received: Received) => boolean): Promise<Received>;
}

/** `script` maps "METHOD /path" to an answer; `nth` counts the calls of this line from 0. */
export async function scriptedServer(script: Record<string, Answer>): Promise<ScriptedServer> {
  const received: Received[] = [];
  const waiting = new Set<(got: Received) => void>();
  const counts = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const got = await read(request);
    received.push(got);
    for (const notify of waiting) notify(got);
    const line = `${got.method} ${got.path}`;
    const nth = counts.get(line) ?? 0;
    counts.set(line, nth + 1);
    const respond = script[line];
    if (respond === undefined) reply(response, 404, problem(404, "request_not_found"));
    else await respond(got, response, nth);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    until: (fits) =>
      new Promise((resolve) => {
        const past = received.find(fits);
        if (past !== undefined) return resolve(past);
        const notify = (got: Received) => {
          if (!fits(got)) return;
          waiting.delete(notify);
          resolve(got);
        };
        waiting.add(notify);
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function read(request: IncomingMessage): Promise<Received> {
  const url = new URL(request.url ?? "/", "http://localhost");
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    authorization: request.headers.authorization,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

export function reply(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export function problem(status: number, code: string, facts: object = {}): object {
  const detail = `Cannot do it: ${code}`;
  return { type: "about:blank", title: code, status, detail, code, hint: "Do it later", ...facts };
}

/** Cuts the connection without a response. */
export function cut(response: ServerResponse): void {
  response.socket?.destroy();
}

const at = "2030-01-01T00:00:00.000Z";
const common = { id: "r1", holder: "ci/1", priority: 0, labels: {}, queuedAt: at };

export function aLease(over: Partial<Lease> = {}): Lease {
  return {
    ...common,
    requestId: null,
    ttl: "5m",
    grantedAt: at,
    expiresAt: "2030-01-01T00:05:00.000Z",
    endsAt: null,
    revokedAt: null,
    waitedSeconds: 0,
    claims: [{ id: "c1", pool: "aws", resource: "aws-1", fence: 7, heldUntil: null, labels: {} }],
    ...over,
  };
}

export function aRequest(over: Partial<WaitingRequest> = {}): WaitingRequest {
  return {
    ...common,
    requestId: null,
    ttl: "5m",
    items: [{ pool: "aws", count: 1, state: "free" }],
    waitedSeconds: 1,
    position: 2,
    etaSeconds: null,
    estimate: null,
    reason: {
      code: "no_free",
      pool: "aws",
      message: "The only one of aws is held; 1 ahead",
    },
    ...over,
  };
}
