/** Sends a call to another replica and returns its answer, of which only the head has arrived. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import { Agent as HttpsAgent, request as secureRequest } from "node:https";

const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
const connectMsMax = 1_000;

export interface SentCall {
  readonly method: string;
  /** The path with the query, exactly as the caller has sent it: the signature is for these characters. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** The call did not reach the other replica: it had no effect. */
export class NotSent extends Error {
  override readonly name = "NotSent";
}

export class Sender {
  readonly #http = new HttpAgent(agentOptions);
  readonly #https = new HttpsAgent(agentOptions);

  /**
   * Rejects with `NotSent`, or with another error if the connection was lost before the answer came:
   * then nobody knows whether the call had an effect. Aborting closes the connection, so that the
   * other replica notices that the caller has gone.
   */
  send(address: string, call: SentCall, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, url: path, body } = call;
    const url = new URL(address);
    const isSecure = url.protocol === "https:";
    // Node itself states no length for the body of a GET or a DELETE. Without it the other replica would
    // take the body for the next call on this connection, which carries the calls of all callers.
    const length = body.length === 0 ? undefined : { "content-length": String(body.length) };
    const headers = { ...call.headers, ...length };
    return new Promise((resolve, reject) => {
      let isSent = false;
      const agent = isSecure ? this.#https : this.#http;
      const options = { method, path, headers, signal, agent };
      const sent: ClientRequest = (isSecure ? secureRequest : request)(url, options, resolve);
      const late = setTimeout(() => sent.destroy(new Error("no connection")), connectMsMax);
      const connected = () => {
        clearTimeout(late);
        isSent = true;
        sent.end(body);
      };
      sent.once("socket", (socket) => {
        // The body follows only on a connection, so that a refused one is known to have no effect.
        if (!socket.connecting && sent.reusedSocket) return connected();
        socket.once(isSecure ? "secureConnect" : "connect", connected);
      });
      sent.once("error", (cause) => {
        clearTimeout(late);
        reject(isSent ? cause : new NotSent(cause.message, { cause }));
      });
    });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
