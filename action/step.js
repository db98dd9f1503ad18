/** What the two steps share: inputs, outputs, and the command. Nothing here needs a package. */
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";

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

/** Runs berth to its end. What it tells people goes to the log; what it prints is returned. */
export function berth(args, env = {}) {
  const command = input("berth") ?? "berth";
  const all = { ...process.env, ...env };
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env: all };
  const { status, stdout, error } = spawnSync(command, args, options);
  if (error !== undefined) {
    fail(`Cannot run ${command}: ${error.message}. Install berth in an earlier step`);
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
