import type { PoolName, ResourceName } from "../core/ids.ts";
import type { MemberSpec, PoolSpec } from "../core/policy.ts";
import { type ConfigDocument, openDocument } from "./document.ts";
import { poolsMax, resourcesMax } from "./limits.ts";
import { refuseClashes } from "./names.ts";
import type { ConfigProblem } from "./problem.ts";
import { checkKeys, type Entry, knownFields, readMap, withinLimit } from "./read-map.ts";
import { noLabels } from "./read-members.ts";
import { type PoolDraft, readPool } from "./read-pool.ts";
import { ConfigFile } from "./schema.ts";
import { Source } from "./source.ts";
import { nameKind } from "./text-kinds.ts";

export type ParsedConfig =
  | {
      readonly ok: true;
      readonly pools: readonly PoolSpec[];
      readonly warnings: readonly ConfigProblem[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Reads a configuration as a whole: it is used as it stands, or not at all. Every problem is found
 * in one pass and given in the order of the file, so that nobody mends them one run at a time.
 * Never throws for what is in the text. `file` is only the name that problems carry.
 */
export function parseConfig(text: string, file: string): ParsedConfig {
  const source = new Source(text, file);
  const document = openDocument(source);
  const drafts = document === undefined ? [] : readConfig(document);
  refuseClashes(source, drafts);
  const problems = source.problems();
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, pools: drafts.map(specOf), warnings: source.warnings() };
}

const expected = { title: "map", hint: "write pools: { my-pool: { count: 1 } }" };
const keys = Object.keys(ConfigFile.properties);

function readConfig(document: ConfigDocument): readonly PoolDraft[] {
  const root = document.root();
  const entries = readMap(document, root, expected);
  if (entries === undefined) return [];
  const own = withoutBoskos(document, entries);
  const pools = knownFields(document, own, keys).get("pools");
  if (pools !== undefined) return readPools(document, pools);
  if (own.length === entries.length) document.source.refuse(root, "it has no pools", expected.hint);
  return [];
}

/** Boskos keeps what it lends under `resources`. */
function withoutBoskos({ source }: ConfigDocument, entries: readonly Entry[]): readonly Entry[] {
  const resources = entries.find(({ key }) => key === "resources");
  if (resources === undefined) return entries;
  source.refuse(resources.at, "Boskos files are not read by this version", expected.hint);
  return entries.filter((entry) => entry !== resources);
}

const poolsExpected = { title: "map of pools", hint: "write { my-pool: { count: 1 } }" };

function readPools(document: ConfigDocument, { at, value }: Entry): readonly PoolDraft[] {
  const entries = readMap(document, value, poolsExpected) ?? [];
  const size = { count: entries.length, max: poolsMax, of: "pools" };
  if (!withinLimit(document, at, size)) return [];
  if (entries.length === 0) {
    document.source.warn(at, "there is nothing to lend", "add a pool");
  }
  checkKeys(document, entries, nameKind);
  const drafts: PoolDraft[] = [];
  const room = { left: resourcesMax, told: false };
  for (const entry of entries) {
    const draft = readPool(document, entry, room);
    if (draft !== undefined) drafts.push(draft);
  }
  return drafts;
}

function specOf({ name, policy, count, members }: PoolDraft): PoolSpec {
  const made = Array.from({ length: count }, (_, index) => memberOf(`${name}-${index + 1}`));
  const written = members.map((member) => memberOf(member.name, member.labels));
  return { name: name as PoolName, policy, members: [...made, ...written] };
}

function memberOf(name: string, labels: MemberSpec["labels"] = noLabels): MemberSpec {
  return { name: name as ResourceName, labels };
}
