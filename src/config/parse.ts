import { isMap } from "yaml";
import type { AuthSpec } from "../auth/auth-spec.ts";
import type { PoolName, ResourceName } from "../core/model/ids.ts";
import type { MemberSpec, PoolSpec } from "../core/model/policy.ts";
import { type PrioritiesSpec, plainPriorities } from "../core/model/priority.ts";
import { anySpace, type SpacesSpec } from "../core/model/space.ts";
import { readBoskos } from "./boskos-file.ts";
import { lenientField, lenientMap } from "./boskos-yaml.ts";
import { type AccessFields, warnOfAccess } from "./check-access.ts";
import { refuseParents } from "./check-pools.ts";
import {
  type ConfigDocument,
  type ConfigProblem,
  openDocument,
  refuseSecondDocument,
  Source,
  type Spot,
} from "./document.ts";
import type { JanitorPrograms } from "./janitor-programs.ts";
import { knownPoolsOf } from "./known-pools.ts";
import { poolsMax } from "./limits.ts";
import type { AdmissionSpec } from "./read-admission.ts";
import { readAuth } from "./read-auth.ts";
import { type FrontSpec, readCaas } from "./read-caas.ts";
import type { KnownTemplates } from "./read-cluster-pool.ts";
import { type HubPlace, readHubs } from "./read-hubs.ts";
import type { JanitorSpec } from "./read-janitor.ts";
import { type MirrorSpec, readMirror } from "./read-mirror.ts";
import { noLabels, type PoolDraft, readPool, roomFor } from "./read-pool.ts";
import { type PriorityFields, readPriorities } from "./read-priorities.ts";
import { type ProfileSpec, readProfiles } from "./read-profiles.ts";
import { readSpaces } from "./read-spaces.ts";
import { readTemplates } from "./read-templates.ts";
import {
  checkKeys,
  type Entry,
  readKnown,
  readMap,
  refuseClashes,
  withinLimit,
} from "./read-values.ts";
import { ConfigFile } from "./schema.ts";
import type { TemplateSpec } from "./template-spec.ts";
import { nameKind } from "./text-kinds.ts";

/** Whose form the file is in. */
export type ConfigFormat = "berth" | "boskos";

/** A file that can be used. */
export interface GoodConfig {
  readonly ok: true;
  readonly format: ConfigFormat;
  readonly pools: readonly PoolSpec[];
  /** What cleans which pool; nothing of it concerns the core. */
  readonly janitors: readonly JanitorSpec[];
  /** How clusters are made, for the pools that make their resources. */
  readonly templates: readonly TemplateSpec[];
  /** Where clusters are made. */
  readonly hubs: readonly HubPlace[];
  /** How it is found out whether which pool may be lent. */
  readonly admissions: readonly AdmissionSpec[];
  /** For jobs to name; checked against the pools. */
  readonly profiles: readonly ProfileSpec[];
  /** Where its leases are shown as objects of Kubernetes; undefined: nowhere. */
  readonly mirror: MirrorSpec | undefined;
  /** API servers whose objects become requests. */
  readonly fronts: readonly FrontSpec[];
  /** Who may call the server; undefined: it has no authentication. */
  readonly auth: AuthSpec | undefined;
  readonly spaces: SpacesSpec;
  readonly priorities: PrioritiesSpec;
  readonly warnings: readonly ConfigProblem[];
}

export type ParsedConfig =
  | GoodConfig
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Reads a configuration as a whole: it is used as it stands, or not at all. Every problem is found
 * in one pass and given in the order of the file, so that nobody fixes them one run at a time.
 * Never throws for what is in the text. `file` is only the name that problems carry. Programs of
 * janitors are found with `programs`, and a warning names those that cannot be started.
 */
export function parseConfig(text: string, file: string, programs?: JanitorPrograms): ParsedConfig {
  const source = new Source(text, file, programs);
  const document = openDocument(source);
  const found = document === undefined ? nothing : readConfig(document);
  const problems = source.problems();
  if (problems.length > 0) return { ok: false, problems };
  const { pools, ...rest } = found;
  return { ok: true, ...rest, pools: pools(), warnings: source.warnings() };
}

interface Found {
  readonly format: ConfigFormat;
  /** Only to be called when nothing is wrong: a count may be made into a million members. */
  readonly pools: () => readonly PoolSpec[];
  readonly janitors: readonly JanitorSpec[];
  readonly templates: readonly TemplateSpec[];
  readonly hubs: readonly HubPlace[];
  readonly admissions: readonly AdmissionSpec[];
  readonly profiles: readonly ProfileSpec[];
  readonly mirror: MirrorSpec | undefined;
  readonly fronts: readonly FrontSpec[];
  readonly auth: AuthSpec | undefined;
  readonly spaces: SpacesSpec;
  readonly priorities: PrioritiesSpec;
}

const nothing: Found = {
  format: "berth",
  pools: () => [],
  janitors: [],
  templates: [],
  hubs: [],
  admissions: [],
  profiles: [],
  mirror: undefined,
  fronts: [],
  auth: undefined,
  spaces: anySpace,
  priorities: plainPriorities,
};
const expected = { title: "map", hint: "write pools: { my-pool: { count: 1 } }" };
const keys = Object.keys(ConfigFile.properties);

function readConfig(document: ConfigDocument): Found {
  const { source } = document;
  const root = document.root();
  const boskos = boskosFields(document, root);
  if (boskos !== undefined) {
    warnOfSecondDocument(document);
    const pools = readBoskos(document, boskos.resources);
    const names = pools.map(({ name }) => name);
    const profiles = readProfiles(document, boskos.profiles, names);
    const mirror = readMirror(document, boskos.mirror);
    const auth = readAuth(document, boskos.auth);
    const known = knownPoolsOf(pools);
    const spaces = readSpaces(document, boskos.spaces, boskos.spaceDefaults, known);
    warnOfAccess(document, { ...boskos, parsed: { auth, spaces } });
    const priorities = readPriorities(document, boskos);
    const pooled = { ...nothing, format: "boskos" as const, pools: () => pools };
    return { ...pooled, profiles, mirror, auth, spaces, priorities };
  }
  refuseSecondDocument(document);
  const fields = readKnown(document, root, keys, expected);
  if (fields === undefined) return nothing;
  const pools = fields.get("pools");
  if (pools === undefined) {
    source.refuse(root, "it has no pools", expected.hint);
    return nothing;
  }
  const hubs = readHubs(document, fields.get("hubs"));
  const known = readTemplates(document, fields.get("templates"), hubs);
  const templates = [...known.values()].flatMap((each) => each ?? []);
  const drafts = readPools(document, pools, known);
  refuseClashes(source, drafts);
  refuseParents(source, drafts);
  const janitors = drafts.flatMap(({ name, janitor }) => {
    return janitor === undefined ? [] : [{ pool: name as PoolName, ...janitor }];
  });
  const admissions = drafts.flatMap(({ name, admission }) => admission?.specFor(name) ?? []);
  const names = drafts.map(({ name }) => name);
  const profiles = readProfiles(document, fields.get("profiles"), names);
  const mirror = readMirror(document, fields.get("mirror"));
  const made = drafts.flatMap(({ name, hasTemplate }) => (hasTemplate ? [name] : []));
  const fronts = readCaas(document, fields.get("caas"), { pools: names, made: new Set(made) });
  const pooled = {
    ...{ pools: () => drafts.map(specOf), janitors, templates, hubs },
    ...{ admissions, fronts },
  };
  const auth = readAuth(document, fields.get("auth"));
  const access = accessFields(fields);
  const spaces = readSpaces(document, access.spaces, access.spaceDefaults, knownPoolsOf(drafts));
  const preempting = drafts.flatMap(({ name, policy }) => (policy.preempt === true ? [name] : []));
  warnOfAccess(document, { ...access, parsed: { auth, spaces }, preempting });
  const priorities = readPriorities(document, priorityFields(fields));
  return { format: "berth", ...pooled, profiles, mirror, auth, spaces, priorities };
}

/** Boskos reads the first document and ignores the others, so a file with several must work. */
function warnOfSecondDocument({ source, secondAt: offset }: ConfigDocument): void {
  if (offset === undefined) return;
  const state = "a second document starts here and is not used, as in Boskos";
  source.warn({ path: [], offset }, state, "move its entries above the ---, or remove it");
}

function accessFields(fields: ReadonlyMap<string, Entry>): AccessFields {
  const [auth, spaces] = [fields.get("auth"), fields.get("spaces")];
  return { auth, spaces, spaceDefaults: fields.get("spaceDefaults") };
}

function priorityFields(fields: ReadonlyMap<string, Entry>): PriorityFields {
  return { priorities: fields.get("priorities"), ageing: fields.get("ageing") };
}

interface BoskosFields extends AccessFields, PriorityFields {
  readonly resources: Entry;
  /** Ours, beside them: the file can still be read by Boskos, which has no use for these. */
  readonly profiles: Entry | undefined;
  readonly mirror: Entry | undefined;
}

/** Boskos keeps what it lends under `resources`, in any case, and looks at nothing else. */
function boskosFields(document: ConfigDocument, root: Spot): BoskosFields | undefined {
  const { node } = root;
  const isBoskos = isMap(node) && node.items.some(({ key }) => resourcesKey.test(String(key)));
  const fields = isBoskos ? lenientMap(document, root, expected) : undefined;
  if (fields === undefined) return undefined;
  const pools = fields.get("pools");
  if (pools !== undefined) {
    const hint = "keep pools, which is Berth's own form, or resources, which is Boskos's";
    document.source.refuse(pools.at, "the file has resources as well", hint);
  }
  const resources = lenientField(fields, "resources");
  const [profiles, mirror] = [fields.get("profiles"), fields.get("mirror")];
  const order = { ...accessFields(fields), ...priorityFields(fields) };
  return resources && { resources, profiles, mirror, ...order };
}

const resourcesKey = /^resources$/i;

const poolsExpected = { title: "map of pools", hint: "write { my-pool: { count: 1 } }" };

function readPools(
  document: ConfigDocument,
  { at, value }: Entry,
  templates: KnownTemplates,
): readonly PoolDraft[] {
  const entries = readMap(document, value, poolsExpected) ?? [];
  const size = { count: entries.length, max: poolsMax, of: "pools" };
  if (!withinLimit(document, at, size)) return [];
  if (entries.length === 0) {
    document.source.warn(at, "there is nothing to lend", "add a pool");
  }
  checkKeys(document, entries, nameKind);
  const drafts: PoolDraft[] = [];
  const room = roomFor("the file has");
  for (const entry of entries) {
    const draft = readPool(document, entry, room, templates);
    if (draft !== undefined) drafts.push(draft);
  }
  return drafts;
}

function specOf({ name, policy, count, members }: PoolDraft): PoolSpec {
  const made = membersByCount(name, count);
  const written = members.map((member, index) => {
    const { userData } = member;
    const seed = userData === undefined ? undefined : { userData };
    const spec = { ...memberOf(member.name, member.labels), ...seed };
    return member.room === undefined ? spec : { ...spec, room: { ...member.room, index } };
  });
  return { name: name as PoolName, policy, members: [...made, ...written] };
}

export function membersByCount(pool: string, count: number): MemberSpec[] {
  return Array.from({ length: count }, (_, index) => memberOf(`${pool}-${index + 1}`));
}

function memberOf(name: string, labels: MemberSpec["labels"] = noLabels): MemberSpec {
  return { name: name as ResourceName, labels };
}
