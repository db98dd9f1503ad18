/**
 * Sign-in through an issuer. What the server needs to finish it stays in the storage of this tab,
 * which no other origin can write: so nobody can sign this browser in as somebody else.
 */
import { berth } from "./berth.ts";
import { Store } from "./store.ts";

/** As `src/http/sign-in.ts` has it. */
const callbackPath = "/sign-in/callback";
const begunKey = "berth.sign-in";
const signedOutKey = "berth.signed-out";
const sessionKey = "berth.session";
/** Another tab may just have signed in, and not have stored which session it got. */
const otherTabMs = 1_000;

type Returning =
  | { readonly state: "none" | "finishing" }
  | { readonly state: "failed"; readonly error: unknown };

/** What became of the sign-in with which the browser came back. */
export const returning = new Store<Returning>({ state: "none" });
/** Why the page asks to sign in. */
export const signInNote = new Store<string | null>(null);

interface Begun {
  readonly transaction: string;
  readonly returnTo: string;
}

/** Sends the browser to the issuer. */
export async function beginSignIn(issuer: string): Promise<void> {
  const { location: url, transaction } = await berth.startSignIn(issuer);
  const { pathname, search } = location;
  const returnTo = pathname === callbackPath ? "/" : pathname + search;
  const begun: Begun = { transaction, returnTo };
  sessionStorage.setItem(begunKey, JSON.stringify(begun));
  location.assign(url);
}

/** Does nothing unless the issuer has just sent the browser back. */
export async function finishSignIn(): Promise<void> {
  if (location.pathname !== callbackPath) return;
  returning.set({ state: "finishing" });
  const answer = location.search.slice(1);
  const begun = takeBegun();
  // The code is worth nothing without this tab, but it should not stay in the history either.
  history.replaceState(null, "", begun === undefined ? "/" : ownPath(begun.returnTo));
  dispatchEvent(new PopStateEvent("popstate"));
  try {
    // Without it the server says what is missing.
    const us = await berth.finishSignIn(begun?.transaction ?? "none", answer);
    rememberSession(us.session ?? null);
    returning.set({ state: "none" });
  } catch (error) {
    returning.set({ state: "failed", error });
  }
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(begunKey);
  sessionStorage.removeItem(begunKey);
  try {
    return text === null ? undefined : (JSON.parse(text) as Begun);
  } catch {
    return undefined;
  }
}

/** A path of this page, and never of another. */
export function ownPath(text: string): string {
  const url = URL.parse(text, location.origin);
  if (url === null || url.origin !== location.origin) return "/";
  return url.pathname.startsWith("//") ? "/" : url.pathname + url.search;
}

/** Storage can be switched off; then the page cannot tell whose session it has. */
function stored<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

export function rememberSession(id: string | null): void {
  if (id !== null) stored(() => localStorage.setItem(sessionKey, id));
}

/** False: this page has not started the session, but another page of the same host. */
export async function isOwnSession(id: string | null): Promise<boolean> {
  const isOwn = () => {
    const own = stored(() => [localStorage.getItem(sessionKey)]);
    return own === undefined || own[0] === id;
  };
  if (id === null || isOwn()) return true;
  await new Promise((resolve) => setTimeout(resolve, otherTabMs));
  return isOwn();
}

/** For the page after the reload that follows a sign-out. */
export function noteSignedOut(issuerUrl: string | null): void {
  stored(() => sessionStorage.setItem(signedOutKey, issuerUrl ?? ""));
}

/** Undefined: nobody has just signed out. Empty: the issuer has no page for it. */
export function justSignedOut(): string | undefined {
  return stored(() => sessionStorage.getItem(signedOutKey)) ?? undefined;
}

export function forgetSignedOut(): void {
  stored(() => sessionStorage.removeItem(signedOutKey));
}
