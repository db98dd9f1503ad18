/** One connection to the event feed for the whole page. Its events decide what is read again. */
import { Problem } from "../../../src/api/problem.ts";
import type { Whoami } from "../../../src/api/schemas.ts";
import { type FeedEvent, FeedSilent } from "../../../src/client/event-feed.ts";
import { onPlace } from "../router.ts";
import { askWhoami, berth, serverNowMs } from "./berth.ts";
import { noteHolder } from "./holder-names.ts";
import { isOwnSession, signInNote } from "./sign-in.ts";
import { Store } from "./store.ts";

export interface Connection {
  readonly state: "connecting" | "live" | "lost";
  /** When this state began, by this machine's clock. */
  readonly sinceMs: number;
  /** Why it was lost. */
  readonly cause?: string;
}

/** Events come in bursts; listeners get one call for each burst. */
const burstMs = 100;
/** How many earlier events are shown when the page opens. */
const backlog = 200;
const retryMs = 2_000;
/** This call takes no time on any server that works. */
const probeMs = 5_000;

export const connection = new Store<Connection>({ state: "connecting", sinceMs: Date.now() });
export const whoami = new Store<Whoami | null>(null);
/** Somebody who reads the page without credentials wants to show some. */
export const signingIn = new Store(false);

/** A step of its own in the browser's history: Back leads to where somebody was. */
export function askToSignIn(): void {
  history.pushState(null, "");
  signingIn.set(true);
}

/** The number of the last event; undefined: none has come yet. */
export const lastSeq = new Store<number | undefined>(undefined);

/** Times without a connection, in milliseconds of this machine's clock. The oldest first. */
export const outages = new Store<readonly { readonly from: number; readonly to: number }[]>([]);
const outagesKeptMax = 50;

type Listener = (events: readonly FeedEvent[] | "everything") => void;
const listeners = new Set<Listener>();
let burst: FeedEvent[] = [];
let retryNow: (() => void) | undefined;

/** `everything`: the connection was lost, and any event may have been missed. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export async function followForever(): Promise<never> {
  window.addEventListener("offline", () => void unanswered(new Error("no network"), Date.now()));
  for (;;) {
    try {
      while ((await follow()) === "other feed");
    } catch (error) {
      lost(error);
    }
    await pause();
  }
}

/** The action of the button "Try now". */
export function retry(): void {
  retryNow?.();
}

let probing = false;

/**
 * A call got no answer, although the feed is open: a network that is gone may leave it open for
 * minutes. Another call decides whether the server is away, or only slow with that one.
 */
export async function unanswered(error: unknown, askedAtMs: number): Promise<void> {
  if (probing || connection.get().state !== "live") return;
  probing = true;
  try {
    await berth.whoami({ signal: AbortSignal.timeout(probeMs) });
  } catch {
    if (connection.get().state === "live") {
      lost(error, askedAtMs);
      retry(); // Ends the feed, and makes a new one.
    }
  } finally {
    probing = false;
  }
}

/**
 * The overview shows no single event: it follows which kinds of events happen, and reads what has changed.
 * With 240 busy pools all events would be most of its traffic.
 */
function wantsDigest(): boolean {
  return location.pathname === "/";
}

/** `other feed`: another view wants more events, or fewer. */
async function follow(): Promise<"other feed" | undefined> {
  const { head, authentication, name } = await introduce();
  // The page asks for a token instead, and tries again when it has one.
  if (authentication && name === null) return undefined;
  const stop = new AbortController();
  retryNow = () => stop.abort();
  const digest = wantsDigest();
  let result: "other feed" | undefined;
  const unwatch = onPlace(() => {
    if (wantsDigest() === digest) return;
    result = "other feed";
    stop.abort();
  });
  const onRetry = (error: unknown) =>
    lost(error, Date.now() - (error instanceof FeedSilent ? error.silentMs : 0));
  const takeAfter = async (after: number) => {
    const options = { signal: stop.signal, digest, onOpen: () => void opened(), onRetry };
    // The client reconnects by itself and resumes after the last event.
    for await (const event of berth.events({ ...options, after })) take(event);
  };
  try {
    await takeAfter(Math.max(0, head - backlog));
  } catch (error) {
    // The server no longer has the earlier events: follow only new ones.
    if (!(error instanceof Problem) || error.code !== "events_pruned") throw error;
    await takeAfter(head);
  } finally {
    unwatch();
  }
  return result;
}

async function introduce(): Promise<Whoami> {
  const us = await ownOnly(await askWhoami());
  const before = whoami.get();
  if (us.name === null && before !== null && before.name !== null) {
    signInNote.set("Your session has ended. Sign in again to go on where you were.");
  }
  whoami.set(us);
  introduceAgainAt(us.sessionEndsAt ?? null);
  return us;
}

let sessionTimer: ReturnType<typeof setTimeout> | undefined;

/** The page asks to sign in as soon as the session has ended, and not with the next click. */
function introduceAgainAt(endsAt: string | null): void {
  clearTimeout(sessionTimer);
  if (endsAt === null) return;
  const leftMs = Date.parse(endsAt) - serverNowMs();
  sessionTimer = setTimeout(() => void introduce().catch(() => {}), Math.max(leftMs, 0) + 500);
}

/** Ends a session that another page of this host has given to the browser. */
async function ownOnly(us: Whoami): Promise<Whoami> {
  if (await isOwnSession(us.session ?? null)) return us;
  await berth.signOut();
  signInNote.set(
    `Another page of this host had signed this browser in as ${us.name}. That session is ended.`,
  );
  return { ...us, name: null, space: null, role: null, operator: false };
}

async function opened(): Promise<void> {
  const { state, sinceMs: from } = connection.get();
  if (state === "lost") {
    outages.set([...outages.get(), { from, to: Date.now() }].slice(-outagesKeptMax));
  }
  connection.set({ state: "live", sinceMs: Date.now() });
  tell("everything");
  await introduce().catch(() => {}); // The next poll reports it.
}

function lost(error: unknown, atMs = Date.now()): void {
  const before = connection.get();
  const cause = error instanceof Error ? error.message : String(error);
  const sinceMs = before.state === "lost" ? before.sinceMs : atMs;
  connection.set({ state: "lost", sinceMs, cause });
}

function take(event: FeedEvent): void {
  lastSeq.set(event.seq);
  if (event.type === "digest") return tell(eventsIn(event));
  noteHolder(event);
  if (burst.push(event) > 1) return;
  setTimeout(() => {
    const events = burst;
    burst = [];
    tell(events);
  }, burstMs);
}

/** One event of each kind, without its facts. */
function eventsIn({ seq, at, types }: FeedEvent): FeedEvent[] {
  return Array.isArray(types) ? types.map((type) => ({ seq, at, type: String(type) })) : [];
}

function tell(events: Parameters<Listener>[0]): void {
  for (const listener of listeners) listener(events);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, retryMs);
    retryNow = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
