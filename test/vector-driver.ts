/** Runs one vector of `clients/vectors` with the library `berth/client`; its only argument is the run as JSON. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { failureOf } from "../src/cli/failure.ts";
import { poolCount } from "../src/cli/values.ts";
import {
  BerthClient,
  BerthUnreachable,
  LeaseLost,
  type LiveLease,
  NotGranted,
  Problem,
} from "../src/client/berth-client.ts";
import { parseDuration } from "../src/core/model/time.ts";
import type { ClientRun } from "./client-vectors.suite.ts";

const { ask, url, work, doneFile } = JSON.parse(process.argv[2] ?? "") as Omit<ClientRun, "env">;
const { BERTH_TOKEN: token, BERTH_TOKEN_FILE: tokenFile } = process.env;
const client = new BerthClient({
  url,
  token: tokenFile === undefined ? token : () => readFileSync(tokenFile, "utf8").trim(),
});
const stopped = new AbortController();
process.on("SIGTERM", () => stopped.abort(new Error("SIGTERM")));

async function run(): Promise<void> {
  const { pools, amounts, timeout, connectTimeout, holder = "vectors", selector, ...rest } = ask;
  const items = pools.map(poolCount).map(({ pool, anyOf, count }) => ({
    ...(anyOf === undefined ? { pool } : { anyOf: [...anyOf] }),
    count,
    ...(amounts && { amount: amounts }),
    ...(selector && { selector }),
  }));
  const options = {
    signal: stopped.signal,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    connectMs: connectTimeout === undefined ? undefined : parseDuration(connectTimeout),
  };
  await client.withLease({ items, holder, ...rest }, working, options);
}

async function working({ claims, signal }: LiveLease): Promise<void> {
  console.log("working", ...claims.map(({ resource }) => resource));
  await pause(work.forMs, undefined, { signal: AbortSignal.any([signal, stopped.signal]) });
  writeFileSync(doneFile, "");
}

function codeOf(error: unknown): string {
  if (stopped.signal.aborted) return "interrupted";
  if (error instanceof LeaseLost) return "lease_lost";
  if (error instanceof NotGranted) return "not_granted";
  if (error instanceof BerthUnreachable) return "unreachable";
  return error instanceof Problem ? error.code : "bug";
}

try {
  await run();
  console.log("error none");
  process.exitCode = work.exit;
} catch (thrown) {
  // A timer that was aborted has the reason in its cause.
  const cause = thrown instanceof Error && thrown.name === "AbortError" ? thrown.cause : thrown;
  const failure = failureOf(cause);
  console.error(failure?.message ?? cause, failure?.hint ?? "");
  console.log("error", codeOf(cause));
  process.exitCode = stopped.signal.aborted ? 143 : (failure?.exitCode ?? 1);
}
