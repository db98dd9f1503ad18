/** The caller's own credentials: what proves to the server who runs this command. */
import { existsSync, readFileSync } from "node:fs";
import { parseServerUrl } from "../../client/transport.ts";
import { usageError } from "../failure.ts";
import { unreadableText } from "../setup/read-input.ts";
import { fromEnvironment, ownToken, type Parse, readValue } from "../values.ts";
import { findGithubToken } from "./github-token.ts";
import { loginsPath } from "./logins-path.ts";

const asWritten: Parse<string> = (text) => text;

type ReadToken = () => string | undefined | Promise<string | undefined>;

/**
 * Returns a function that reads the token before each call; undefined from it: no credentials. In
 * this order: --token-file, BERTH_TOKEN, BERTH_TOKEN_FILE, BERTH_ID_TOKEN, GitHub Actions, the login.
 */
export function findCredentials(tokenFile: string | undefined, serverUrl: string): ReadToken {
  const found = findGivenToken(tokenFile) ?? findGithubToken(serverUrl);
  return found ?? (() => loginToken(serverUrl));
}

/** Most callers have no logins, and then need not load what reads them. */
async function loginToken(serverUrl: string): Promise<string | undefined> {
  if (!existsSync(loginsPath())) return undefined;
  const { storedToken } = await import("./stored-login.ts");
  return storedToken(parseServerUrl(serverUrl));
}

/**
 * The token that the caller has set for this command. A file is read each time, because Kubernetes
 * replaces the tokens that it mounts.
 */
export function findGivenToken(tokenFile?: string): (() => string) | undefined {
  if (tokenFile !== undefined) return () => readTokenFile("--token-file", tokenFile);
  const own = tokenVariable();
  if (own !== undefined) return () => own;
  const path = fromEnvironment("BERTH_TOKEN_FILE", asWritten);
  if (path !== undefined) return () => readTokenFile("BERTH_TOKEN_FILE", path);
  const idToken = fromEnvironment("BERTH_ID_TOKEN", ownToken);
  return idToken === undefined ? undefined : () => idToken;
}

/** Inside of `berth run`, BERTH_TOKEN is the lease's token unless the caller had one of its own. */
function tokenVariable(): string | undefined {
  const given = fromEnvironment("BERTH_TOKEN", ownToken);
  const isLeaseToken =
    process.env["BERTH_LEASE_ID"] !== undefined &&
    (process.env["BERTH_LEASE_TOKEN"] ?? given) === given;
  return isLeaseToken ? undefined : given;
}

function readTokenFile(name: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const state = unreadableText(error) ?? "it is unreadable";
    throw usageError(`Cannot use ${name} "${path}": ${state}`, "Check the path and its rights");
  }
  return readValue(`the token in "${path}"`, text, ownToken);
}
