import type { ServerResponse } from "node:http";

/** Aborted if whoever asked goes away before the answer, or has gone already. */
export function unlessAbandoned(response: ServerResponse): AbortSignal {
  const abandoned = new AbortController();
  const closed = () => {
    if (!response.writableEnded) abandoned.abort();
  };
  if (response.closed) closed();
  else response.once("close", closed);
  return abandoned.signal;
}
