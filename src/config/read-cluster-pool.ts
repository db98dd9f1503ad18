/** The part of a pool that says how its resources are made. */
import type { ClusterPolicy } from "../core/model/cluster.ts";
import { destroyingState } from "../core/model/lifecycle.ts";
import { nearest } from "../core/model/nearest.ts";
import { formatDuration } from "../core/model/time.ts";
import { type ConfigDocument, quote, type Spot } from "./document.ts";
import { kindsOf, releaseOf } from "./hub-needs.ts";
import { templateLimits } from "./limits.ts";
import { textOf } from "./read-mirror.ts";
import { stockParameters } from "./read-parameters.ts";
import { type Entry, optionalNumber, scalarOf } from "./read-values.ts";
import { clusterPoolFields } from "./schema-cluster-pool.ts";
import type { TemplateSpec } from "./template-spec.ts";
import { nameKind } from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;
/** All that are written, by name; undefined: the source has the reason why it cannot be used. */
export type KnownTemplates = ReadonlyMap<string, TemplateSpec | undefined>;

const own = Object.keys(clusterPoolFields);
/** A pool that makes its resources has no list of them, and destroys what comes back. */
const contradictions: Readonly<Record<string, string>> = {
  count: "it makes its resources",
  members: "it makes its resources",
  dynamic: "it makes its resources",
  place: "clusters are lent as a whole",
  parts: "clusters are lent as a whole",
  janitor: "used clusters are destroyed, not cleaned",
  onRelease: "used clusters are always destroyed",
  onExpire: "used clusters are always destroyed",
  states: "the states of clusters are fixed",
};

/** What the pool gets of its template: how its clusters are made, and what one costs. */
export interface ClusterDraft {
  readonly cluster: ClusterPolicy;
  readonly onRelease: string;
  readonly onExpire: string;
  readonly cost?: number;
}

/** Undefined where there is no template, or, with the reason in the source, if it is unknown. */
export function readClusterPolicy(
  document: ConfigDocument,
  fields: Fields,
  templates: KnownTemplates,
  lifetimeMs: number | null,
): ClusterDraft | undefined {
  const { source } = document;
  const field = fields.get("template");
  if (field === undefined) {
    for (const key of own) {
      const lonely = fields.get(key);
      const hint = "add template: and a name, or remove it";
      if (lonely !== undefined) source.refuse(lonely.at, "the pool has no template", hint);
    }
    return undefined;
  }
  for (const [key, state] of Object.entries(contradictions)) {
    const other = fields.get(key);
    if (other !== undefined)
      source.refuse(other.at, `the pool has a template: ${state}`, "remove it");
  }
  const name = textOf(document, fields, "template", nameKind);
  if (name === undefined) return undefined;
  if (!templates.has(name)) {
    const meant = nearest(name, [...templates.keys()]);
    const hint = meant === undefined ? "add it below templates:" : `did you mean ${meant}?`;
    source.refuse(field.value, `there is no template ${quote(name)}`, hint);
    return undefined;
  }
  const template = templates.get(name);
  if (template === undefined) return undefined;
  warnOfExpiry(document, fields.get("lifetime") ?? field, template, lifetimeMs);
  return withTemplate(document, fields, template);
}

/** Hive deletes a claim when it expires, also while its cluster is lent. */
function warnOfExpiry(
  { source }: ConfigDocument,
  { value }: Entry,
  { name, how }: TemplateSpec,
  lifetimeMs: number | null,
): void {
  if (how.driver !== "hive" || !("pools" in how) || how.expiryMs === undefined) return;
  if (lifetimeMs !== null && lifetimeMs <= how.expiryMs) return;
  const expiry = formatDuration(how.expiryMs);
  const lease = lifetimeMs === null ? "without a lifetime" : `of ${formatDuration(lifetimeMs)}`;
  const state = `Hive deletes clusters of the template ${quote(name)} after ${expiry}, its expiry, so a lease ${lease} can lose its cluster`;
  source.warn(value, state, `write lifetime: ${expiry} or less, or a longer expiry`);
}

function withTemplate(
  document: ConfigDocument,
  fields: Fields,
  template: TemplateSpec,
): ClusterDraft {
  const count = (key: string, min = 0) =>
    optionalNumber(document, fields.get(key), {
      ...{ min, max: templateLimits.clustersMax },
      whole: true,
    });
  const [size = 0, max, concurrent] = [count("size"), count("max"), count("concurrent", 1)];
  const running = readRunning(document, fields.get("running"));
  const [sizeField, runningField] = [fields.get("size"), fields.get("running")];
  const at = runningField?.value ?? sizeField?.value;
  if (at !== undefined) {
    checkRunning(document, at, { size, running: running ?? (runningField ? size : 0), template });
  }
  if (max !== undefined && max > 0 && max < size && sizeField !== undefined) {
    const state = `${size} is more than max, which is ${max}`;
    document.source.refuse(sizeField.value, state, "raise max, or lower size");
  }
  if (template.ownCredentials !== null && size > 0 && sizeField !== undefined) {
    const state = `the template ${quote(template.name)} has ownCredentials, so its clusters cannot be made before somebody asks`;
    document.source.refuse(sizeField.value, state, "remove size, or ownCredentials");
  }
  return {
    ...(template.cost > 0 && !fields.has("cost") && { cost: template.cost }),
    ...{ onRelease: destroyingState, onExpire: destroyingState },
    cluster: {
      ...{ template: template.name, revision: template.revision, size },
      running: running ?? (template.hibernates ? 0 : size),
      ...(max === undefined ? undefined : { max }),
      ...(concurrent === undefined ? undefined : { concurrent }),
      ...{ hibernates: template.hibernates, limits: template.limits },
      parameters: stockParameters(document, fields.get("parameters"), template),
      ...placementOf(template),
    },
  };
}

/** What the plan needs to know to choose a hub. */
function placementOf(
  template: TemplateSpec,
): Pick<ClusterPolicy, "hubs" | "needs" | "release"> | undefined {
  if (template.hubs === undefined) return undefined;
  const [needs, release] = [kindsOf(template.how), releaseOf(template)];
  return {
    hubs: template.hubs,
    ...(needs.length === 0 ? undefined : { needs }),
    ...(release === undefined ? undefined : { release }),
  };
}

function readRunning(
  document: ConfigDocument,
  field: Entry | undefined,
): number | "auto" | undefined {
  if (field !== undefined && scalarOf(field.value) === "auto") return "auto";
  return optionalNumber(document, field, { min: 0, max: templateLimits.clustersMax, whole: true });
}

interface Stock {
  readonly size: number;
  readonly running: number | "auto";
  readonly template: TemplateSpec;
}

/** Clusters that cannot hibernate are all awake. Without `running`, that is what the pool does. */
function checkRunning(
  { source }: ConfigDocument,
  at: Spot,
  { size, running, template }: Stock,
): void {
  if (running !== "auto" && running > size) {
    source.refuse(at, `${running} is more than size, which is ${size}`, "lower it, or raise size");
  } else if (!template.hibernates && at.path.at(-1) === "running" && running !== size) {
    const state = `the clusters of the template ${quote(template.name)} cannot hibernate`;
    const able = ["command", "hive"].includes(template.how.driver)
      ? ", or hibernates: true in the template"
      : "";
    source.refuse(at, state, `write running: ${size}${able}`);
  }
}
