import { isMap } from "yaml";
import type { PoolName } from "../core/model/ids.ts";
import { type ConfigDocument, readText, readWhole, type Spot } from "./document.ts";
import {
  innerDurationLimits,
  janitorParallelMax,
  janitorVariablesMax,
  janitorWordsMax,
} from "./limits.ts";
import type { WrittenFields } from "./read-fields.ts";
import { type Entry, readDuration, readKnown, readNamed, readTexts } from "./read-values.ts";
import { defaultJanitor, FromUserData } from "./schema-janitor.ts";
import { userDataKeyKind, variableNameKind, wordKind } from "./text-kinds.ts";

/** What a variable of the command holds: this text, or what the resource has under this key. */
export type VariableSource = string | { readonly userData: string };

/** How the dirty resources of a pool are cleaned. */
export interface JanitorSpec {
  readonly pool: PoolName;
  /** A program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** So many resources of the pool at once. */
  readonly parallel: number;
  /** All that the command gets of the resource's user data. */
  readonly env: Readonly<Record<string, VariableSource>>;
}

/** Undefined where there is none, or if it is no janitor at all. */
export function readJanitor(
  document: ConfigDocument,
  { entries, values }: WrittenFields,
): Omit<JanitorSpec, "pool"> | undefined {
  const [janitor, timeout] = [entries.get("janitor"), entries.get("janitor/timeout")];
  if (janitor === undefined || values["cleaning"] === undefined) return undefined;
  const { source } = document;
  const parallel = entries.get("janitor/parallel");
  const timeoutMs = timeout && readDuration(source, timeout.value, innerDurationLimits.timeout);
  const atOnce = parallel && readWhole(source, parallel.value, { min: 1, max: janitorParallelMax });
  return {
    command: readProgram(
      document,
      { owner: janitor.value, example: "[./clean.sh, --all]" },
      entries.get("janitor/command"),
    ),
    timeoutMs: timeoutMs ?? defaultJanitor.timeoutMs,
    parallel: atOnce ?? defaultJanitor.parallel,
    env: readVariables(document, entries.get("janitor/env")),
  };
}

/** Who needs the program, and what it would look like. */
interface ProgramOwner {
  readonly owner: Spot;
  readonly example: string;
}

/** A program and its arguments; none, with the reason in the source, if it is missing. */
export function readProgram(
  document: ConfigDocument,
  { owner, example }: ProgramOwner,
  field: Entry | undefined,
): readonly string[] {
  const { source } = document;
  const hint = `write ${example}`;
  if (field === undefined) {
    source.refuse(owner, "it has no command", `add command: and ${hint}`);
    return [];
  }
  const title = "list of words";
  const form = { kind: wordKind, title, hint, max: janitorWordsMax };
  const words = readTexts(document, field.value, form);
  if (words?.length === 0) source.refuse(field.value, "it is empty", hint);
  return words === undefined ? [] : findProgram(document, field, words);
}

/** Only warns: the file may be checked on another machine than the one that cleans. */
function findProgram({ source }: ConfigDocument, field: Entry, words: readonly string[]) {
  const { programs } = source;
  const [written, ...args] = words;
  if (programs === undefined || written === undefined) return words;
  const program = programs.find(written);
  const fault = programs.faultOf(program);
  if (fault !== undefined) {
    source.warn(field.value, `"${program}" cannot be run here: ${fault.state}`, fault.hint);
  }
  return [program, ...args];
}

const variables = {
  title: "map of variables",
  hint: "write { REGION: eu-west-1 }",
  names: variableNameKind,
  max: janitorVariablesMax,
  of: "variables",
};

function readVariables(document: ConfigDocument, field: Entry | undefined): JanitorSpec["env"] {
  if (field === undefined) return {};
  const found = readNamed(document, field, variables).flatMap(({ key, value }) => {
    const from = readVariable(document, value);
    return from === undefined ? [] : [[key, from] as const];
  });
  return Object.fromEntries(found);
}

const fromKeys = Object.keys(FromUserData.properties);
const fromExpected = { title: "variable", hint: "write text, or { userData: access-key-id }" };

function readVariable(document: ConfigDocument, spot: Spot): VariableSource | undefined {
  const { source } = document;
  if (!isMap(spot.node)) return readText(source, spot, wordKind);
  const from = readKnown(document, spot, fromKeys, fromExpected)?.get("userData");
  if (from === undefined) {
    source.refuse(spot, "it does not say where its text is from", "add userData: and a key");
    return undefined;
  }
  const userData = readText(source, from.value, userDataKeyKind);
  return userData === undefined ? undefined : { userData };
}
