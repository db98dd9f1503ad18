/**
 * What Boskos asks of its configuration, in its own words, because people know them and scripts may
 * look for them. Duplicate types pass, as they do there.
 */
import type { BoskosEntry } from "./boskos-entry.ts";
import type { Place, Source } from "./document.ts";
import { nameLengthMax } from "./limits.ts";
import { visible } from "./shown-text.ts";

export function checkRules(source: Source, entries: readonly BoskosEntry[]): void {
  const names = new Set<string>();
  for (const entry of entries) {
    const { type, index } = entry;
    if (type.value === "") source.refuseAs(type.at, `.${index}.type: must be set`, "name it");
    if (isStatic(entry)) checkStatic(source, entry, names);
    else checkDynamic(source, entry);
  }
  checkNeeds(source, entries);
}

export function isStatic({ names }: BoskosEntry): boolean {
  return names.length > 0;
}

function checkDynamic(source: Source, { index, min, max }: BoskosEntry): void {
  if (max.value <= 0) {
    source.refuseAs(max.at, `.${index}.max-count: must be >0`, "write max-count, or names");
  }
  if (min.value > max.value) {
    const message = `.${index}.min-count: must be <= .${index}.max-count`;
    source.refuseAs(min.at, message, "swap them");
  }
}

function checkStatic(source: Source, entry: BoskosEntry, names: Set<string>): void {
  const { index } = entry;
  for (const [key, { value, at }] of [
    ["min-count", entry.min],
    ["max-count", entry.max],
  ] as const) {
    const message = `.${index}.${key} must be unset when the names property is set`;
    if (value !== 0) source.refuseAs(at, message, "remove it, or the names");
  }
  for (const [number, { value: name, at }] of entry.names.entries()) {
    const which = `.${index}.names.${number}(${shown(name)})`;
    const reasons = subdomainProblems(name);
    if (reasons.length > 0) {
      source.refuseAs(at, `${which} is invalid: [${reasons.join(" ")}]`, "rename it");
    }
    if (names.has(name)) source.refuseAs(at, `${which} is a duplicate`, "rename one of them");
    names.add(name);
  }
}

/** As it is, unless it would break the line or fill the screen. */
function shown(name: string): string {
  const text = visible(name);
  return text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax)}…`;
}

const shownLengthMax = 300;

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = `${label}(\\.${label})*`;
const subdomain = new RegExp(`^${subdomainPattern}$`);

/** Kubernetes's own words for what it does not take as a name. */
function subdomainProblems(name: string): string[] {
  const reasons: string[] = [];
  if (name.length > nameLengthMax) reasons.push(`must be no more than ${nameLengthMax} characters`);
  if (!subdomain.test(name)) {
    reasons.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, " +
        "'-' or '.', and must start and end with an alphanumeric character " +
        `(e.g. 'example.com', regex used for validation is '${subdomainPattern}')`,
    );
  }
  return reasons;
}

/** Enough must be there for every dynamic resource that there can be at once. */
function checkNeeds(source: Source, entries: readonly BoskosEntry[]): void {
  const there = new Map<string, number>();
  const needed = new Map<string, { count: number; at: Place }>();
  for (const entry of entries) {
    const count = isStatic(entry) ? entry.names.length : entry.max.value;
    there.set(entry.type.value, (there.get(entry.type.value) ?? 0) + count);
    if (isStatic(entry)) continue;
    for (const { type, value, at } of entry.needs) {
      const before = needed.get(type)?.count ?? 0;
      needed.set(type, { count: before + value * entry.max.value, at });
    }
  }
  for (const [type, { count, at }] of needed) {
    const actual = there.get(type);
    if (actual === undefined) {
      source.refuseAs(
        at,
        `need for resource ${shown(type)} that does not exist`,
        "add it, or correct it",
      );
    } else if (count > actual) {
      const message = `not enough resource of type ${shown(type)} for provisioning`;
      source.refuseAs(at, message, `it takes ${count}, and the file has ${actual}`);
    }
  }
}
