/** A call to a server with TLS, for tests that choose whom to trust. */
import type { IncomingHttpHeaders } from "node:http";
import { type Agent, type RequestOptions, request } from "node:https";
import type { TLSSocket } from "node:tls";

export interface HttpsCall {
  /** The authority that the caller trusts. */
  readonly ca: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A client certificate. */
  readonly cert?: string;
  readonly key?: string;
  readonly agent?: Agent;
  readonly maxVersion?: "TLSv1.1" | "TLSv1.2";
}

export interface HttpsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** The serial number of the certificate that the server has shown. */
  readonly serial: string;
  /** False if the call went over a new connection. */
  readonly reused: boolean;
  /** Whether the connection has resumed a TLS session. */
  readonly resumed: boolean;
}

export function callHttps(url: string, call: HttpsCall): Promise<HttpsAnswer> {
  const { body, headers, maxVersion, ...more } = call;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = {
    ...{ agent: false, ...more },
    ...(maxVersion && { minVersion: "TLSv1", maxVersion, ciphers: "DEFAULT@SECLEVEL=0" }),
    headers: { ...(text && { "content-type": "application/json" }), ...headers },
  };
  const { promise, resolve, reject } = Promise.withResolvers<HttpsAnswer>();
  const sent = request(url, options, (response) => {
    const socket = response.socket as TLSSocket;
    const { serialNumber: serial = "" } = socket.getPeerCertificate();
    const resumed = socket.isSessionReused();
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("error", reject);
    response.once("end", () => {
      const { statusCode: status = 0, headers: received } = response;
      const read = Buffer.concat(chunks).toString();
      const isJson = /json/.test(response.headers["content-type"] ?? "");
      const { reusedSocket: reused } = sent;
      resolve({
        status,
        headers: received,
        serial,
        reused,
        resumed,
        body: isJson && read !== "" ? JSON.parse(read) : read,
      });
    });
  });
  sent.once("error", reject);
  sent.end(text);
  return promise;
}
