import { LinkedAbort } from "../client/linked-abort.ts";
import type { ApiServer } from "./api-server.ts";
import type { KubeObject } from "./kube-objects.ts";

export interface Change<Watched extends KubeObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Watched;
}

/** Objects of one kind, in one namespace or in all. */
export interface Watchable {
  readonly api: ApiServer;
  readonly path: readonly string[];
  readonly labelSelector?: string | undefined;
}

/** The server ends a watch after this time. Opening a new one detects a dead connection. */
const watchSeconds = 240;
/** The server sends a bookmark every minute. A watch without any message for this long is dead. */
const silenceMs = 150_000;
/** Far more than any object has. A watch with a longer line is not one. */
const lineLengthMax = 16 * 1024 * 1024;

export interface WatchOptions {
  /**
   * Watch the changes after this version. Without it, the server sends all existing objects first.
   */
  readonly version: string | undefined;
  readonly signal: AbortSignal;
  /** Watch only this object. */
  readonly name?: string;
}

/** Yields changes until the connection ends for any reason. Throws if it cannot be opened. */
export async function* watchObjects<Watched extends KubeObject>(
  { api, path, labelSelector }: Watchable,
  { version, signal, name }: WatchOptions,
): AsyncGenerator<Change<Watched>> {
  const enough = new LinkedAbort(signal);
  const query = {
    watch: true,
    resourceVersion: version,
    labelSelector,
    allowWatchBookmarks: true,
    timeoutSeconds: watchSeconds,
    ...(name === undefined ? undefined : { fieldSelector: `metadata.name=${name}` }),
  };
  const silence = setTimeout(() => enough.abort(), silenceMs);
  try {
    const stream = await api.open({ path, query, signal: enough.signal });
    for await (const line of linesOf(stream, () => silence.refresh())) {
      const change = parsed(line);
      if (change === undefined) return;
      if (isChange<Watched>(change)) yield change;
    }
  } finally {
    clearTimeout(silence);
    enough.unlink();
    enough.abort();
  }
}

/** The caller lists everything again after the end, so the reason for the end does not matter. */
async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of stream) {
      heard();
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
      if (rest.length > lineLengthMax) return;
    }
  } catch {
    // The connection was lost.
  }
}

/**
 * Returns undefined to end the watch: for an incomplete line, or for an error such as an expired
 * version.
 */
function parsed(line: string): { readonly type: string } | undefined {
  try {
    const found = JSON.parse(line) as { readonly type: string };
    return found.type === "ERROR" ? undefined : found;
  } catch {
    return undefined;
  }
}

/** Other types are bookmarks. */
function isChange<Watched extends KubeObject>(change: {
  readonly type: string;
}): change is Change<Watched> {
  return ["ADDED", "MODIFIED", "DELETED"].includes(change.type);
}
