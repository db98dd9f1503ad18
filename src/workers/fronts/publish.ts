/** Publishes the ClusterTemplates of an API server, so that people find them as before. */
import { Absent } from "../../drivers/driver.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { apiVersionOf, type Kind, pathOf } from "../../drivers/hub/kind.ts";
import { managedBy } from "../../drivers/hub/ownership.ts";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { installationKey, labelledMark } from "./installation.ts";

export const templateKind: Kind = {
  ...{ group: "clustertemplate.openshift.io", version: "v1alpha1" },
  ...{ kind: "ClusterTemplate", plural: "clustertemplates" },
  from: "the definitions of cluster templates",
};

/** Its value is the name of the API server in the configuration: several servers of Berth may serve one. */
const frontLabel = "berth/front";

export interface PublishedTemplate {
  readonly name: string;
  readonly cost: number;
  /** The JSON Schema of the parameters. */
  readonly schema: object;
}

interface ClusterTemplate extends KubeObject {
  readonly spec?: { readonly cost?: number; readonly clusterDefinition?: string };
  readonly status?: { readonly clusterDefinition?: { readonly schema?: string } };
}

export interface Publisher {
  /** The name of the API server in the configuration. */
  readonly front: string;
  /** The mark of this installation. */
  readonly installation: string;
}

/** What is on the API server under the same name. */
export interface Published {
  /** Names of templates that another installation has published. */
  readonly ofAnother: readonly string[];
  /** Another installation was the first to use the name. */
  readonly isTaken: boolean;
  /** The marks of all other installations that publish templates there. */
  readonly marks: ReadonlySet<string>;
}

export const nothingPublished: Published = { ofAnother: [], isTaken: false, marks: new Set() };

/**
 * Templates of the same name that somebody else has made are used as they are. Those of another installation that uses the
 * same name for the API server are neither changed nor deleted; if it was there first, nothing is published.
 */
export async function publishTemplates(
  hub: HubApi,
  { front, installation }: Publisher,
  wanted: readonly PublishedTemplate[],
  signal: AbortSignal,
): Promise<Published> {
  const ours = { ...managedBy, [frontLabel]: front };
  const labels = { ...ours, [installationKey]: installation };
  const found = await hub.list<ClusterTemplate>(templateKind, { signal });
  const underName = found.filter((each) => hasLabels(each, ours));
  const markOf = (each: ClusterTemplate) => labelledMark(each) ?? installation;
  const isTaken = (firstOf(underName, markOf) ?? installation) !== installation;
  const byName = new Map(found.map((each) => [each.metadata.name, each]));
  for (const template of wanted) {
    const known = byName.get(template.name);
    const isOurs = known !== undefined && hasLabels(known, ours) && markOf(known) === installation;
    if (isOurs || (known === undefined && !isTaken)) {
      await publish(hub, template, known, { labels, signal });
    }
  }
  const names = new Set(wanted.map(({ name }) => name));
  for (const each of underName) {
    if (markOf(each) === installation && !names.has(each.metadata.name)) {
      await hub.remove(templateKind, each, { unchanged: true, signal });
    }
  }
  const ofAnother = underName.filter((each) => markOf(each) !== installation);
  const marks = new Set(found.flatMap((each) => labelledMark(each) ?? []));
  marks.delete(installation);
  return { ofAnother: ofAnother.map(({ metadata }) => metadata.name), isTaken, marks };
}

/** Whose template is the oldest. Of two that were made in the same second both sides choose the same. */
function firstOf(
  templates: readonly ClusterTemplate[],
  markOf: (each: ClusterTemplate) => string,
): string | undefined {
  const ages = templates.map((each) => ({
    madeAt: each.metadata.creationTimestamp ?? "",
    mark: markOf(each),
  }));
  ages.sort((a, b) => compare(a.madeAt, b.madeAt) || compare(a.mark, b.mark));
  return ages[0]?.mark;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

type Labels = Readonly<Record<string, string>>;

function hasLabels({ metadata }: KubeObject, labels: Labels): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

async function publish(
  hub: HubApi,
  { name, cost, schema }: PublishedTemplate,
  found: ClusterTemplate | undefined,
  { labels, signal }: { readonly labels: Labels; readonly signal: AbortSignal },
): Promise<void> {
  const identity = { apiVersion: apiVersionOf(templateKind), kind: templateKind.kind };
  const spec = { clusterDefinition: "berth", cost, skipClusterRegistration: true };
  const made =
    (found && (await marked(hub, found, { labels, signal }))) ??
    (await hub.create<ClusterTemplate>(
      templateKind,
      { ...identity, metadata: { name, labels }, spec },
      { signal },
    ));
  const path = pathOf(templateKind, undefined, name);
  const { resourceVersion } = made.metadata;
  if (made.spec?.cost !== cost) {
    const body = { metadata: { resourceVersion }, spec };
    await hub.call({ method: "PATCH", path, body, signal }, templateKind);
  }
  const text = JSON.stringify(schema);
  if (made.status?.clusterDefinition?.schema === text) return;
  const body = { status: { clusterDefinition: { schema: text, values: "" } } };
  try {
    await hub.call({ method: "PATCH", path: [...path, "status"], body, signal }, templateKind);
  } catch (error) {
    if (!(error instanceof Absent)) throw error; // Deleted just now.
  }
}

/** Berth before there were marks has published it: whoever writes its mark first has it. */
async function marked(
  hub: HubApi,
  found: ClusterTemplate,
  { labels, signal }: { readonly labels: Labels; readonly signal: AbortSignal },
): Promise<ClusterTemplate> {
  if (hasLabels(found, labels)) return found;
  return hub.patch(templateKind, found, { metadata: { labels } }, { signal });
}
