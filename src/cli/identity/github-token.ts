/**
 * The id token of a GitHub Actions job. GitHub gives a job with the permission `id-token: write` an
 * address that signs tokens for any audience, so the job needs no stored secret.
 */
import { isProtectedUrl } from "../../auth/protected-url.ts";
import { describeNetworkError } from "../../client/network-errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { readValue, token } from "../values.ts";
import { NoIdToken } from "./no-id-token.ts";
import { lifetimeOf } from "./token-expiry.ts";

const answerMs = 10_000;
/** A token that expires sooner is replaced before it is sent. */
const spareMs = 60_000;

interface Job {
  readonly requestUrl: string;
  readonly requestToken: string;
  readonly audience: string;
}

/** Returns undefined outside of such a job, and if others could read the token on its way. */
export function findGithubToken(serverUrl: string): (() => Promise<string>) | undefined {
  const requestUrl = process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] ?? "";
  const requestToken = process.env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] ?? "";
  if (requestToken === "" || !isProtectedUrl(requestUrl) || !isProtectedUrl(serverUrl)) {
    return undefined;
  }
  const audience = process.env["BERTH_AUDIENCE"] || serverUrl;
  return cached(() => fetchIdToken({ requestUrl, requestToken, audience }));
}

/**
 * The tokens live for minutes; a command that waits for hours needs several. A clock that is set meanwhile, or is wrong, has no
 * effect.
 */
function cached(fetchToken: () => Promise<string>): () => Promise<string> {
  let last: Promise<string> | undefined;
  let renewAtMs = 0;
  return async () => {
    if (last === undefined || performance.now() >= renewAtMs) {
      renewAtMs = Number.POSITIVE_INFINITY;
      const askedAtMs = performance.now();
      last = fetchToken();
      last.then(
        (idToken) => {
          renewAtMs = askedAtMs + lifetimeOf(idToken) - spareMs;
        },
        () => {
          last = undefined;
        },
      );
    }
    return last;
  };
}

async function fetchIdToken({ requestUrl, requestToken, audience }: Job): Promise<string> {
  const url = new URL(requestUrl);
  url.searchParams.set("audience", audience);
  let status: number;
  let body: unknown;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${requestToken}`, accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });
    status = response.status;
    body = response.ok ? await response.json() : await response.body?.cancel();
  } catch (error) {
    throw new NoIdToken(url.origin, describeNetworkError(error), error);
  }
  if (status >= 500 || status === 429) {
    throw new NoIdToken(url.origin, `it answered with status ${status}`);
  }
  const value = Object(body)["value"];
  if (typeof value === "string") return readValue("GitHub's id token", value, token);
  throw new CliError(
    `Cannot get an id token of GitHub Actions: it answered with status ${status}`,
    "Give the job the permission id-token: write, or set BERTH_TOKEN",
    exitCodes.refused,
  );
}
