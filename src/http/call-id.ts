/**
 * Every call has an id: the caller's own from `x-request-id`, or a new one. The answer has it in the same
 * header, and lines of the log about the call as `callId`, so that both can be found together.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { App } from "./context.ts";

export const callIdHeader = "x-request-id";

/** Others are replaced: they could break the lines of a log. */
const usable = /^[\w.:/+=-]{1,128}$/;

/** For the framework's `genReqId`. A counter after a random part is unique, and costs nothing. */
export function callIds(): (call: Pick<IncomingMessage, "headers">) => string {
  const start = randomBytes(5).toString("hex");
  let count = 0;
  return ({ headers }) => {
    const given = headers[callIdHeader];
    if (typeof given === "string" && usable.test(given)) return given;
    count += 1;
    return `${start}-${count.toString(36)}`;
  };
}

/** Must come before every other hook, because these may answer. */
export function answerCallIds(app: App): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(callIdHeader, request.id);
    done();
  });
}

/** One line for each call. Only with `--log-level debug`: it takes longer than most calls. */
export function logCalls(app: App): void {
  if (app.log.level !== "debug" && app.log.level !== "trace") return;
  app.addHook("onResponse", (request, reply, done) => {
    const { id: callId, method, routeOptions } = request;
    const ms = Math.round(reply.elapsedTime);
    const call = { callId, method, route: routeOptions.url ?? null, status: reply.statusCode, ms };
    request.log.debug(call, "call");
    done();
  });
}
