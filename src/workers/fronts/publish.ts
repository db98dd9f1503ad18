/** Publishes the ClusterTemplates of an API server, so that people find them as before. */
import { Absent } from "../../drivers/driver.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { apiVersionOf, type Kind, pathOf } from "../../drivers/hub/kind.ts";
import { managedBy } from "../../drivers/hub/ownership.ts";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";

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

/** Templates of the same name that somebody else has made are used as they are. */
export async function publishTemplates(
  hub: HubApi,
  front: string,
  wanted: readonly PublishedTemplate[],
  signal: AbortSignal,
): Promise<void> {
  const labels = { ...managedBy, [frontLabel]: front };
  const found = await hub.list<ClusterTemplate>(templateKind, { signal });
  const byName = new Map(found.map((each) => [each.metadata.name, each]));
  for (const template of wanted) {
    const known = byName.get(template.name);
    if (known !== undefined && !hasLabels(known, labels)) continue;
    await publish(hub, template, known, { labels, signal });
  }
  const names = new Set(wanted.map(({ name }) => name));
  for (const each of found) {
    if (hasLabels(each, labels) && !names.has(each.metadata.name)) {
      await hub.remove(templateKind, each, { signal });
    }
  }
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
    found ??
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
