import type { Command, Option } from "commander";
import { BerthClient } from "../client/berth-client.ts";
import type { CliCommand, Context } from "./cli-command.ts";
import { commands } from "./commands.ts";
import { findCredentials } from "./identity/credentials.ts";
import { contextOf, programFor } from "./program.ts";
import { poolNames } from "./show/pools.ts";

/** The user waits at the Tab key, so an unreachable server must not delay it. */
const answerMs = 1_000;

/** Prints matching candidates, one per line. The last word is the one that the user is typing. */
export async function complete(split: readonly string[]): Promise<undefined> {
  try {
    const words = splitAssignments(split);
    for (const line of await candidates(contextFor(words), words)) {
      process.stdout.write(`${line}\n`);
    }
  } catch {
    // An incomplete command line may be invalid. Completion then offers nothing and prints no error.
  }
  return undefined;
}

function contextFor(words: readonly string[]): Context {
  const context = contextOf([], []);
  const at = words.indexOf("--server");
  const url = (at < 0 ? undefined : words[at + 1]) ?? context.client.url;
  const within: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: AbortSignal.timeout(answerMs) });
  const token = findCredentials(undefined, url);
  return { ...context, client: new BerthClient({ url, fetch: within, token }) };
}

/** Returns option and value as two words. bash passes `--pool=aws` as three: `--pool`, `=`, `aws`. */
function splitAssignments(words: readonly string[]): string[] {
  const typed = words.at(-1) === "=" ? [...words, ""] : words;
  return typed
    .filter((word) => word !== "=")
    .flatMap((word) => {
      const [, option, value] = /^(--[a-z-]+)=(.*)$/.exec(word) ?? [];
      return option === undefined || value === undefined ? [word] : [option, value];
    });
}

async function candidates(context: Context, words: readonly string[]): Promise<string[]> {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const fitting = (lines: readonly string[]) => lines.filter((line) => line.startsWith(typed));
  if (before.includes("--")) return []; // The shell completes the user's command.
  const { at, called } = await findCommand(before);
  const last = before.at(-1) ?? "";
  const option = at.options.find(({ long, short }) => long === last || short === last);
  if (option?.required) return fitting(await valuesOf(option, context));
  if (typed.startsWith("-")) return fitting(optionLines(at));
  const below = at.commands.filter((each) => !each.name().startsWith("_"));
  const names = (await called?.completes?.(context).catch(() => [])) ?? [];
  return fitting([...below.map((each) => `${each.name()}\t${each.description()}`), ...names]);
}

/** Finds the innermost command that the words name, and its definition. */
async function findCommand(
  before: readonly string[],
): Promise<{ at: Command; called?: CliCommand }> {
  let at = await programFor(before, () => {});
  const name = before.find((word) => at.commands.some((each) => each.name() === word));
  for (const word of before) at = at.commands.find((each) => each.name() === word) ?? at;
  const entry = commands.find((each) => each.name === name);
  let called = await entry?.load();
  for (const word of before) called = called?.subcommands?.[word]?.command ?? called;
  return called === undefined ? { at } : { at, called };
}

function optionLines({ options }: Command): string[] {
  const help = "--help\tprint this help";
  return [...options.map(({ long, description }) => `${long}\t${description}`), help];
}

async function valuesOf({ long, description }: Option, context: Context): Promise<string[]> {
  switch (long) {
    case "--pool":
      return poolNames(context);
    case "--state":
      return ["free", "dirty", "quarantined"];
    default: {
      const [, list = ""] = /^one of ([\w, ]+?)(?:;|$)/.exec(description) ?? [];
      return list === "" ? [] : list.split(", ");
    }
  }
}
