/**
 * A server that does not lead passes calls on to the leader, with the caller's own credentials, and the
 * answers back. While nobody leads, callers wait for a moment. So a client may use any server. It never
 * calls itself: while it doubts its own lease, callers wait, and if it leads then, it answers them.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../api/problem.ts";
import { formatDuration, parseDuration } from "../../core/model/time.ts";
import { callIdHeader } from "../call-id.ts";
import { certificateOf } from "../client-certificate.ts";
import type { App } from "../context.ts";
import { callerAddress, hostOf, protocolOf } from "../proxies.ts";
import { abortOnClose } from "../request.ts";
import { traceRelay } from "../trace-calls.ts";
import { answerHere, type RelayAnswer } from "./answer-here.ts";
import { notLeaderHeader } from "./not-leader.ts";
import type { Peers } from "./peers.ts";
import { answerLost, journalOutOfReach, nobodyLeads, serverStops } from "./relay-problems.ts";
import { relayHeader } from "./relay-signature.ts";
import { deliveryHeader } from "./relayed-deliveries.ts";
import { needsLeader } from "./relayed-routes.ts";
import { isRepeatable } from "./repeatable.ts";
import { NotSent, Sender, type SentCall } from "./send.ts";

/** How long a caller waits for somebody to lead: longer than a change of the leader takes. */
const leaderMsMax = 10_000;
/** If the leader does not answer, it may be gone before anybody has noticed. */
const retryMs = 50;
const wordMsMax = 5_000;
const bodyBytesMax = 1024 * 1024;
/** How long a server that no longer leads may take to answer what it had got before. */
const lastWordMs = 500;

/** Of one connection only, RFC 9110 7.6.1. */
const hopHeaders = [
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "expect", "content-length", "host", relayHeader, deliveryHeader],
];

export class Relay {
  readonly #peers: Peers;
  readonly #sender = new Sender();
  readonly #stopping = new AbortController();
  #app: App | undefined;

  constructor(peers: Peers) {
    this.#peers = peers;
  }

  /** Must come before the hook that checks credentials: the leader checks them. */
  addHook(app: App): void {
    this.#app = app;
    app.addHook("preClose", async () => this.#stopping.abort());
    app.addHook("onClose", async () => this.#sender.close());
    app.addHook("onRequest", async (request, reply) => {
      if (this.#peers.isLeading) return;
      if (!needsLeader(request.method, request.routeOptions.url)) return;
      if (request.relayed) throw nobodyLeads();
      const body = await bodyOf(request);
      if (body === undefined) {
        reply.header("connection", "close");
        throw tooLarge();
      }
      await this.#relay(request, reply, body);
    });
  }

  /** Whether a call that this server could not decide, because it no longer leads, is passed on. */
  takes(request: FastifyRequest): boolean {
    return !request.relayed && needsLeader(request.method, request.routeOptions.url);
  }

  /** Passes on a call whose body has been read already. */
  async take(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { body } = request;
    const text = typeof body === "string" ? body : body == null ? "" : JSON.stringify(body);
    await this.#relay(request, reply, Buffer.from(text));
  }

  /** Throws a problem if there is no answer: each protocol writes it in its own way. */
  async #relay(request: FastifyRequest, reply: FastifyReply, body: Buffer): Promise<void> {
    const gone = abortOnClose(reply.raw);
    const startedAtMs = performance.now();
    const deliveryId = crypto.randomUUID();
    const call = { ...callOf(request, deliveryId), body };
    let mayHaveHadEffect = false;
    while (!gone.aborted) {
      const waitedMs = performance.now() - startedAtMs;
      const answer = await this.#attempt(withLessWait(call, waitedMs), gone);
      if (answer instanceof Problem) throw answer;
      if (answer === undefined && this.#stopping.signal.aborted) {
        throw mayHaveHadEffect ? answerLost() : serverStops();
      }
      if (answer === "unsure") mayHaveHadEffect = true;
      else if (answer?.statusCode === 503 && mayHaveHadEffect) {
        answer.resume(); // It speaks of the last attempt only.
        throw answerLost();
      } else if (answer !== undefined) {
        const isAwaited = answer.headers[deliveryHeader] !== undefined;
        if (isAwaited)
          whenClosed(reply, () => this.#report(deliveryId, reply.raw.writableFinished));
        return passOn(answer, reply);
      }
      if (waitedMs > leaderMsMax) {
        throw mayHaveHadEffect ? answerLost() : nobodyLeads();
      }
      if (!this.#peers.isReachable && isPlainRead(call)) {
        throw journalOutOfReach();
      }
      if (!gone.aborted) await untilChanged(this.#peers);
    }
    // Nobody reads the answer, and the leader may have written it before it noticed that.
    this.#report(deliveryId, false);
    reply.hijack();
  }

  /** Tells the leader whether its answer arrived. If it does not hear that, it takes it as arrived. */
  #report(id: string, arrived: boolean): void {
    if (this.#peers.standing?.leader == null) return;
    const call = { method: "GET", url: "/healthz", headers: {} };
    const relay = this.#peers.signature.sign(call, { address: "", delivery: { id, arrived } });
    const sent = { ...call, headers: { [relayHeader]: relay }, body: Buffer.alloc(0) };
    this.#send(sent, AbortSignal.timeout(wordMsMax)).then(
      (answer) => answer?.resume(),
      () => {},
    );
  }

  /** Undefined: nobody leads, as far as this server knows. */
  async #send(call: SentCall, signal: AbortSignal): Promise<RelayAnswer | undefined> {
    const { id, isLeading, standing } = this.#peers;
    const { replica, address = null } = standing?.leader ?? {};
    if (replica !== id) {
      return address === null ? undefined : this.#sender.send(address, call, signal);
    }
    if (!isLeading || this.#app === undefined) return undefined;
    return answerHere(this.#app, call, signal);
  }

  /**
   * Undefined: the call had no effect. `unsure`: it may have had one, and has it only once. Both are
   * worth another try.
   */
  async #attempt(
    call: SentCall & { readonly sign: (peers: Peers, url: string) => string },
    signal: AbortSignal,
  ): Promise<RelayAnswer | Problem | "unsure" | undefined> {
    const address = this.#peers.standing?.leader?.address;
    if (address === undefined || address === null) return undefined;
    const headers = { ...call.headers, [relayHeader]: call.sign(this.#peers, call.url) };
    const replaced = new AbortController();
    const stopWatching = watchLeader(this.#peers, address, () => replaced.abort());
    try {
      // What only reads ends at once; another call has a moment for its answer.
      const ends = isReading(call) ? [this.#stopping.signal] : [];
      const either = AbortSignal.any([signal, replaced.signal, ...ends]);
      const answer = await traceRelay(address, (more) =>
        this.#send({ ...call, headers: { ...headers, ...more } }, either),
      );
      if (answer?.headers[notLeaderHeader] === undefined) return answer;
      answer.resume();
      return undefined;
    } catch (cause) {
      if (signal.aborted || cause instanceof NotSent) return undefined;
      if (!isRepeatable(call)) return answerLost();
      return isReading(call) ? undefined : "unsure";
    } finally {
      stopWatching();
    }
  }
}

function isReading({ method }: SentCall): boolean {
  return method === "GET" || method === "HEAD";
}

/** A read that wants its answer at once, and not when something happens. */
function isPlainRead(call: SentCall): boolean {
  return isReading(call) && !new URLSearchParams(call.url.split("?")[1]).has("wait");
}

function whenClosed({ raw }: FastifyReply, run: () => void): void {
  if (raw.closed) run();
  else raw.once("close", run);
}

/**
 * Calls `giveUp` if another server leads and the one at this address has still not answered a moment
 * later: it may be paused for hours, with its connections open. Returns a function that ends the watch.
 */
function watchLeader(peers: Peers, address: string, giveUp: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const stop = peers.onChange(() => {
    const leader = peers.standing?.leader?.address;
    if (leader != null && leader !== address) timer ??= setTimeout(giveUp, lastWordMs);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Resolves when somebody else may lead, and after a moment in any case. */
function untilChanged(peers: Peers): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      clearTimeout(timer);
      resolve();
    };
    const stop = peers.onChange(end);
    const timer = setTimeout(end, retryMs);
  });
}

function callOf(request: FastifyRequest, deliveryId: string) {
  const { method, headers } = request;
  // Callers may send a whole address instead of a path, RFC 9112 3.2.2.
  const url = request.url.replace(/^https?:\/\/[^/?]*/i, "");
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] =>
      entry[1] !== undefined && !hopHeaders.includes(entry[0]),
  );
  const caller = {
    address: callerAddress(request),
    host: hostOf(request),
    protocol: protocolOf(request),
    certificate: certificateOf(request),
    deliveryId,
  };
  const sign = (peers: Peers, to: string) =>
    peers.signature.sign({ method, url: to, headers }, caller);
  return {
    method,
    url,
    headers: { ...Object.fromEntries(kept), [callIdHeader]: request.id },
    sign,
  };
}

/** A long poll that is sent again waits for the rest of its time only. */
function withLessWait<Call extends { readonly url: string }>(call: Call, waitedMs: number): Call {
  const [path = "", query = ""] = call.url.split("?");
  const parameters = new URLSearchParams(query);
  const waitMs = parseDuration(parameters.get("wait") ?? "");
  if (waitMs === undefined || waitedMs < 1_000) return call;
  const leftMs = Math.max(0, waitMs - Math.floor(waitedMs / 1_000) * 1_000);
  parameters.set("wait", formatDuration(leftMs));
  return { ...call, url: `${path}?${parameters}` };
}

/** Undefined if it is too large. */
async function bodyOf({ raw }: FastifyRequest): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of raw) {
      length += part.length;
      if (length > bodyBytesMax) return undefined;
      parts.push(part);
    }
  } catch (cause) {
    // The caller has gone. It is no bug, as for a body that Fastify reads.
    throw Object.assign(cause as Error, { statusCode: 400 });
  }
  return Buffer.concat(parts);
}

function passOn(answer: RelayAnswer, reply: FastifyReply): void {
  reply.hijack();
  const { raw } = reply;
  const own = Object.entries(answer.headers).filter(
    ([name, value]) =>
      value !== undefined && (name === "content-length" || !hopHeaders.includes(name)),
  );
  raw.writeHead(answer.statusCode ?? 502, Object.fromEntries(own));
  answer.on("error", () => raw.destroy());
  answer.pipe(raw);
}

function tooLarge(): Problem {
  return new Problem({
    code: "body_too_large",
    status: 413,
    message: "Cannot read the body: it is too large",
    hint: `Send at most ${bodyBytesMax} bytes`,
  });
}
