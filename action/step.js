/** What the two steps share: inputs, outputs, and the command. Nothing here needs a package. */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An input of the step; undefined if it was not given. */
export function input(name) {
  const text = (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
  return text === "" ? undefined : text;
}

/** `--name value` for each input that was given. */
export function flags(...names) {
  return names.flatMap((name) => {
    const text = input(name);
    return text === undefined ? [] : [`--${name}`, text];
  });
}

/**
 * The words of the command. Without berth on the runner a lease of a server needs only the client that the
 * server offers; slots need berth itself.
 */
export async function findCommand() {
  const named = input("berth");
  if (named !== undefined) return [named];
  const server = input("server") ?? process.env["BERTH_URL"];
  const isInstalled = spawnSync("berth", ["version"], { stdio: "ignore" }).error === undefined;
  if (isInstalled || input("pool") === undefined || !server) return ["berth"];
  const address = `${server.replace(/\/+$/, "")}/client.sh`;
  const script = join(privateFolder(), "berth.sh");
  try {
    const answer = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(30_000) });
    if (!answer.ok) fail(`Cannot fetch ${address}: it answered with status ${answer.status}`);
    writeFileSync(script, await answer.text());
  } catch (error) {
    fail(`Cannot fetch ${address}: ${error.cause?.message ?? error.message}`);
  }
  return ["sh", script];
}

/** Goes with the job. */
export function privateFolder() {
  return mkdtempSync(join(process.env["RUNNER_TEMP"] ?? tmpdir(), "berth-"));
}

/** Runs berth to its end. What it tells people goes to the log; what it prints is returned. */
export function berth([file, ...words], args, env = {}) {
  const all = { ...process.env, ...env };
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env: all };
  const { status, stdout, error } = spawnSync(file, [...words, ...args], options);
  if (error !== undefined) {
    fail(`Cannot run ${file}: ${error.message}. Install berth in an earlier step`);
  }
  return { status, stdout };
}

/** For later steps of the job, through the file that the runner names. */
export function tell(file, name, value) {
  const path = process.env[file];
  if (path) appendFileSync(path, `${name}=${value}\n`);
}

/** What the first step left for the last one. */
export function state(name) {
  return process.env[`STATE_${name}`] ?? "";
}

export function fail(message) {
  console.log(`::error::${message}`);
  process.exit(1);
}
