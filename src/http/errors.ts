/** Converts every error of a request to a problem document (RFC 9457). Unknown ones are bugs: 500. */

import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import {
  BrokerClosed,
  BrokerOverloaded,
  NotLeader,
  OutcomeUnknown,
} from "../broker/broker-contract.ts";
import { StatsWorkerClosed } from "../insight/stats-worker.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import type { App } from "./context.ts";
import { linesOf, linesType, wantsLines } from "./lines.ts";
import type { Page } from "./page.ts";
import { notLeaderHeader } from "./relay/not-leader.ts";
import { validationProblem } from "./validation.ts";

/** Seconds after which a temporary failure is worth another try. */
const retryAfterSeconds = "1";

/** Calls that another server must decide: `relay/relay.ts`. */
export interface PassedOn {
  takes(request: FastifyRequest): boolean;
  take(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

type AnswerError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => unknown;

/** `answer`: how the protocol of this scope writes an error. Unless given, as a problem document. */
export function handleErrors(
  app: App,
  relay: PassedOn | undefined,
  answer: AnswerError = answerProblem,
): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    // The server led when the call came, and does no longer. Nothing has happened.
    const isLate = error instanceof NotLeader && relay?.takes(request) === true;
    const failure = isLate ? await passedOn(relay, request, reply) : error;
    if (failure !== undefined) {
      markUndecided(reply, failure);
      answer(failure, request, reply);
    }
    return reply;
  });
}

/** Undefined if somebody else has answered it. */
async function passedOn(relay: PassedOn, request: FastifyRequest, reply: FastifyReply) {
  try {
    await relay.take(request, reply);
    return undefined;
  } catch (cause) {
    return cause as FastifyError;
  }
}

/** The call had no effect: whoever has passed it on asks the next leader. */
export function markUndecided(reply: FastifyReply, error: unknown): void {
  const problem = error instanceof Problem ? error : undefined;
  const isTold = problem?.code === "not_leader" || problem?.code === "shutting_down";
  if (isTold || error instanceof NotLeader || error instanceof BrokerClosed) {
    reply.header(notLeaderHeader, "true");
  }
}

export function answerProblem(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  sendProblem(reply, problemFrom(error, request));
}

/**
 * Boskos answers unknown paths with 200 and an empty body, and some probes rely on that. A browser
 * gets the page, which does its own routing. Under `/v1` an unknown path is answered with 404.
 */
export function answerUnknownPaths(app: App, page: Page): void {
  app.setNotFoundHandler((request, reply) => {
    if (!isOwnPath(request)) {
      const cleaned = cleanPath(request.url);
      if (cleaned !== request.url) return reply.redirect(cleaned, 301);
      if (page.wanted(request)) return page.send(request, reply.code(200));
      return reply.code(200).header("content-length", "0").send();
    }
    const message = `Cannot ${request.method} ${request.url.slice(0, 200)}: no such call`;
    sendProblem(
      reply,
      new Problem({ code: "not_found", status: 404, message, hint: "See /docs for all calls" }),
    );
    return reply;
  });
}

/** Whether the path is one of Berth's own API, known or not. */
export function isOwnPath({ url }: Pick<FastifyRequest, "url">): boolean {
  return /^\/(?:v1|docs)(?:[/?]|$)/.test(url);
}

/** Cleans a path as Go's ServeMux does: without empty parts, `.` and `..`. */
function cleanPath(url: string): string {
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const end = /\/\.{0,2}$/.test(path) && parts.length > 0 ? "/" : "";
  return `/${parts.join("/")}${end}${query}`;
}

/**
 * For what fails before there is a route: a path that cannot be decoded, or is too long. A browser gets the
 * page, which says that it does not know the address.
 */
export function answerFrameworkErrors(page: Page): AnswerError {
  return (error, request, reply) => {
    if (!isOwnPath(request) && page.wanted(request)) page.send(request, reply.code(200));
    else sendProblem(reply, problemFrom(error, request));
  };
}

/** Answers on the socket when Node cannot parse the request, and then closes it. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (isOfCertificate(error, socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "Request Header Fields Too Large"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "Request Timeout"]
        : [400, "Bad Request"];
  const problem = new Problem({
    code: "invalid_request",
    status: Number(status),
    message: `Cannot read the request: ${reason}`,
    hint: "Send HTTP/1.1; see /docs for what is accepted",
  });
  endWith(socket, problem, String(reason));
}

/** Connections on which the failure to verify a client certificate was seen. */
const refusedCertificates = new WeakSet<Socket>();

/**
 * OpenSSL reports a wrong signature of a client certificate a second time, as if reading the connection had
 * failed. The handshake is done by then, the certificate proves nothing, and the call gets its answer.
 */
function isOfCertificate({ code = "" }: NodeJS.ErrnoException, socket: Socket): boolean {
  if (!(socket instanceof TLSSocket) || !code.startsWith("ERR_SSL_")) return false;
  // Node's types say Error, and it is the code of OpenSSL.
  if (String(socket.authorizationError) !== "CERT_SIGNATURE_FAILURE") return false;
  const isFirst = !refusedCertificates.has(socket);
  refusedCertificates.add(socket);
  return isFirst;
}

/** Answers plain HTTP on a port that speaks TLS. */
export function answerPlainHttp(socket: Socket): void {
  const problem = new Problem({
    code: "tls_required",
    status: 400,
    message: "Cannot answer plain HTTP: this port speaks TLS",
    hint: "Use https:// instead of http://",
  });
  endWith(socket, problem, "Bad Request");
}

/** Writes the answer to the socket itself, and closes it. */
function endWith(socket: Socket, problem: Problem, reason: string): void {
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${problem.status} ${reason}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
}

export function setRetryAfter(reply: FastifyReply, { status, facts }: Problem): void {
  if (status !== 503 && status !== 429) return;
  reply.header("retry-after", String(facts["retryAfterSeconds"] ?? retryAfterSeconds));
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  markUndecided(reply, problem);
  setRetryAfter(reply, problem);
  if (problem.status === 401) reply.header("www-authenticate", 'Bearer realm="berth"');
  const [type, serialize] = wantsLines(reply.request)
    ? [linesType, linesOf]
    : ["application/problem+json", JSON.stringify];
  reply.code(problem.status).type(type).serializer(serialize).send(problem.toJSON());
}

function problemFrom(error: FastifyError, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (error.validation !== undefined) {
    return validationProblem(error.validation, error.validationContext ?? "the request");
  }
  const { bodyLimit = limits.bodyBytesMax } = request.routeOptions;
  const problem = unavailableProblem(error) ?? malformed(error, bodyLimit);
  if (problem !== undefined) return problem;
  request.log.error(
    { err: error, callId: request.id, method: request.method, route: request.routeOptions.url },
    "a bug: the request failed",
  );
  return new Problem({
    code: "internal",
    status: 500,
    message: "Cannot answer: the server has a bug",
    hint: `Its log has the cause, with callId ${request.id}; please report it`,
  });
}

export function unavailableProblem(error: Error): Problem | undefined {
  const no = (code: string, hint: string) =>
    new Problem({ code, status: 503, message: error.message, hint }, error);
  if (error instanceof JournalUnavailable) {
    const { hint = "Free space on the disk of the data folder" } = error;
    const forOperators = `${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
    const effect =
      error instanceof OutcomeUnknown
        ? "It may have had an effect; repeat it with the same requestId, or look"
        : "Nothing was changed; try again";
    return no("journal_unavailable", `${effect}. Operators: ${forOperators}`);
  }
  if (error instanceof BrokerOverloaded)
    return no("overloaded", "Nothing was changed; try again in a moment");
  if (error instanceof BrokerClosed || error instanceof StatsWorkerClosed)
    return no("shutting_down", "Nothing was changed; try again once the server is back");
  if (error instanceof NotLeader)
    return no("not_leader", "Nothing was changed; try again in a moment");
  return undefined;
}

function malformed(error: FastifyError, bodyLimit: number): Problem | undefined {
  const no = (code: string, status: number, message: string, hint: string) =>
    new Problem({ code, status, message, hint });
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return no(
        "body_too_large",
        413,
        `Cannot read the body: it has more than ${bodyLimit} bytes`,
        "Send less at once",
      );
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return no(
        "unsupported_media_type",
        415,
        "Cannot read the body: its content type is not JSON",
        "Send Content-Type: application/json",
      );
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return no(
        "invalid_request",
        400,
        "Cannot read the body: its length is not what was announced",
        "Send the right Content-Length",
      );
    case "FST_ERR_MAX_PARAM_LENGTH":
      return no(
        "invalid_request",
        414,
        `Cannot read the path: a name in it has more than ${limits.nameLengthMax} characters`,
        "Check the name",
      );
    case "FST_ERR_BAD_URL":
      return no(
        "invalid_request",
        400,
        "Cannot read the path: it is badly encoded",
        "Percent-encode it as UTF-8",
      );
    default:
      break;
  }
  const status = error.statusCode ?? 500;
  if (status < 400 || status >= 500) return undefined;
  return no(
    "invalid_request",
    status,
    `Cannot read the request: ${error.message}`,
    "See /docs for what is accepted",
  );
}
