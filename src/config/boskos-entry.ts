import {
  lenientDuration,
  lenientField,
  lenientInteger,
  lenientList,
  lenientMap,
  lenientText,
} from "./boskos-yaml.ts";
import type { ConfigDocument, Place, Spot } from "./document.ts";
import { readUserDataByName, type UserData } from "./read-user-data.ts";

/** A value with the place where it stands, or where it should. */
export interface Written<Value> {
  readonly value: Value;
  readonly at: Place;
}

/** One item of a Boskos file's `resources`. With names it is static, without it is dynamic. */
export interface BoskosEntry {
  /** From 0, as Boskos counts them. */
  readonly index: number;
  readonly type: Written<string>;
  /** What new ones are in; empty: free. */
  readonly state: string;
  readonly names: readonly Written<string>[];
  readonly min: Written<number>;
  readonly max: Written<number>;
  readonly lifespanMs: number | null;
  readonly needs: readonly Need[];
  /** Not in Boskos, which ignores it: the states that clients may use; none: all. */
  readonly states: readonly string[];
  /** Not in Boskos, which ignores it: the initial user data, by name. */
  readonly userData: Written<ReadonlyMap<string, UserData>>;
}

interface Need extends Written<number> {
  readonly type: string;
}

const expected = { title: "resource entry", hint: "write { type: my-type, names: [one] }" };
const needsExpected = { title: "map of needs", hint: "write { my-type: 1 }" };
const configExpected = { title: "config", hint: "write { type: …, content: … }" };

const noUserData: ReadonlyMap<string, UserData> = new Map();

/** Keys that Boskos does not know are not looked at. Undefined if it is no entry at all. */
export function readEntry(
  document: ConfigDocument,
  spot: Spot,
  index: number,
): BoskosEntry | undefined {
  const { source } = document;
  const fields = lenientMap(document, spot, expected);
  if (fields === undefined) return undefined;
  const read = <Value>(key: string, otherwise: Value, how: (value: Spot) => Value) => {
    const entry = lenientField(fields, key);
    // What is missing is looked for where the entry begins.
    if (entry === undefined)
      return { value: otherwise, at: { ...spot, path: [...spot.path, key] } };
    return { value: how(entry.value), at: entry.value };
  };
  const text = (key: string) => read(key, "", (value) => lenientText(source, value));
  const integer = (key: string) => read(key, 0, (value) => lenientInteger(source, value));
  read("config", undefined, (value) => checkConfig(document, value));
  return {
    index,
    type: text("type"),
    state: text("state").value,
    names: read("names", [], (value) => readNames(document, value)).value,
    min: integer("min-count"),
    max: integer("max-count"),
    lifespanMs: read("lifespan", null, (value) => lenientDuration(source, value)).value,
    needs: read("needs", [], (value) => readNeeds(document, value)).value,
    states: read("states", [], (value) => readNames(document, value)).value.map(
      ({ value }) => value,
    ),
    userData: read("userdata", noUserData, (value) => readUserDataByName(document, value)),
  };
}

function readNames(document: ConfigDocument, spot: Spot): Written<string>[] {
  const items = lenientList(document, spot) ?? [];
  return items.map((at) => ({ value: lenientText(document.source, at), at }));
}

function readNeeds(document: ConfigDocument, spot: Spot): Need[] {
  const entries = lenientMap(document, spot, needsExpected) ?? new Map();
  return Array.from(entries.values(), ({ key, at, value }) => {
    return { type: key, value: lenientInteger(document.source, value), at };
  });
}

/** For the programs that build dynamic resources: Berth hands it to nobody and keeps none of it. */
function checkConfig(document: ConfigDocument, spot: Spot): void {
  const fields = lenientMap(document, spot, configExpected) ?? new Map();
  for (const key of ["type", "content"]) {
    const entry = lenientField(fields, key);
    if (entry !== undefined) lenientText(document.source, entry.value);
  }
}
