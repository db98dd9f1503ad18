import type { Readable } from "node:stream";
import type { App } from "../context.ts";
import type { SentCall } from "./send.ts";

/** An answer of which only the head has arrived. */
export type RelayAnswer = Readable & {
  readonly statusCode?: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** This server leads by now: it answers the call itself, without a connection to itself. */
export async function answerHere(
  app: App,
  { method, url, headers, body }: SentCall,
  signal: AbortSignal,
): Promise<RelayAnswer> {
  const answer = await app.inject({
    method: method as "GET",
    url,
    headers: { ...headers },
    ...(body.length === 0 ? undefined : { payload: body }),
    payloadAsStream: true,
    signal,
  });
  const { statusCode } = answer;
  const known = Object.entries(answer.headers).map(([name, value]) => [
    name,
    typeof value === "number" ? String(value) : value,
  ]);
  return Object.assign(answer.stream(), { statusCode, headers: Object.fromEntries(known) });
}
