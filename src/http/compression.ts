/**
 * Compresses long answers for clients that accept gzip. Grants, heartbeats and releases pay nothing,
 * because their routes have no hook. There is no package for this: the common one checks every
 * answer and makes a stream of it, and answers are text that is already in memory.
 */
import { promisify } from "node:util";
import { constants, gzip, type ZlibOptions } from "node:zlib";
import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import type { App } from "./context.ts";

const compress = promisify(gzip);

/**
 * In characters. A lease has about 700. Shorter answers fit into a few packets, and to compress one
 * takes longer than to send it.
 */
const compressedLengthMin = 4_096;

/** 143 kB of pools take 0.5 ms and become 8.5 kB; with level 6 they take 1.9 ms and become 6.5 kB. */
const fast: ZlibOptions = { level: constants.Z_BEST_SPEED };

/** For all routes that are added later. Only lists are long, and only GET returns lists. */
export function compressAnswers(app: App): void {
  app.addHook("onRoute", (route) => {
    if (route.method !== "GET" && route.method !== "HEAD") return;
    const hooks = [route.onSend ?? []].flat().filter((hook) => hook !== compressAnswer);
    // First, because the framework's hook for HEAD takes the body away and leaves its length.
    route.onSend = [compressAnswer, ...hooks];
  });
}

/** With a callback, because a short answer must not pay for a promise. */
const compressAnswer: onSendHookHandler = (request, reply, payload, done) => {
  if (typeof payload !== "string" || payload.length < compressedLengthMin) done(null, payload);
  else compressLong(request, reply, payload).then((sent) => done(null, sent), done);
};

async function compressLong(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: string,
): Promise<string | Buffer> {
  if (reply.hasHeader("content-encoding")) return payload;
  reply.header("vary", withAcceptEncoding(reply.getHeader("vary")));
  if (!acceptsGzip(request)) return payload;
  const compressed = await compress(payload, fast); // In another thread.
  reply.header("content-encoding", "gzip");
  reply.header("content-length", compressed.length);
  return compressed;
}

function withAcceptEncoding(vary: unknown): string {
  return vary === undefined ? "accept-encoding" : `${String(vary)}, accept-encoding`;
}

/** Whether the client's `Accept-Encoding` allows gzip. A weight of 0 forbids it. */
export function acceptsGzip({ headers }: Pick<FastifyRequest, "headers">): boolean {
  const accepted = headers["accept-encoding"];
  if (accepted === undefined) return false;
  const codings = String(accepted).toLowerCase().split(",").map(codingOf);
  const gzipCoding = codings.find(({ name }) => name === "gzip" || name === "x-gzip");
  return (gzipCoding ?? codings.find(({ name }) => name === "*"))?.isAllowed ?? false;
}

function codingOf(text: string): { readonly name: string; readonly isAllowed: boolean } {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim());
  return { name, isAllowed: !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
}
