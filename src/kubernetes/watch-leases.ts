import { LinkedAbort } from "../client/linked-abort.ts";
import type { LeaseObject } from "./kube-objects.ts";
import type { LeaseStore } from "./lease-store.ts";

export interface LeaseChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: LeaseObject;
}

/** The server ends a watch by itself after this; a new one finds out whether it still lives. */
const watchSeconds = 240;
/** It sends a bookmark every minute. One that says nothing for so long is dead. */
const silenceMs = 150_000;

export interface WatchOptions {
  /** Changes after this one; all that there is comes first without it. */
  readonly version: string | undefined;
  readonly signal: AbortSignal;
  /** Of one Lease only. */
  readonly name?: string;
}

/** Yields what happens until the connection ends, however it ends. Throws if there is none. */
export async function* watchLeases(
  { api, path, labelSelector }: LeaseStore,
  { version, signal, name }: WatchOptions,
): AsyncGenerator<LeaseChange> {
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
      if (isChange(change)) yield change;
    }
  } finally {
    clearTimeout(silence);
    enough.letGo();
    enough.abort();
  }
}

/** However the connection ends, what was missed is read anew, so it does not matter how. */
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
    }
  } catch {
    // Cut off.
  }
}

/** Undefined ends it: half a line of a cut connection, or the server's word that it lost track. */
function parsed(line: string): { readonly type: string } | undefined {
  try {
    const found = JSON.parse(line) as { readonly type: string };
    return found.type === "ERROR" ? undefined : found;
  } catch {
    return undefined;
  }
}

/** All others are bookmarks. */
function isChange(change: { readonly type: string }): change is LeaseChange {
  return ["ADDED", "MODIFIED", "DELETED"].includes(change.type);
}
