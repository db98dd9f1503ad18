/** One look at a hub: whether it answers, and what it can make for the templates that use it. */
import { Problem } from "../../api/problem.ts";
import { kindsOf } from "../../config/hub-needs.ts";
import type { TemplateSpec } from "../../config/template-spec.ts";
import type { HubFindings } from "../../core/model/hub.ts";
import { DriverError } from "../../drivers/driver.ts";
import { type ClusterPool, poolKind } from "../../drivers/hive/objects.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { labelSelector } from "../../drivers/hub/label-selector.ts";
import { supportedVersions } from "../../drivers/hypershift/supported-versions.ts";

export type Probe = HubFindings & { readonly error?: string };

/** A hub that takes longer is as good as none. */
const answerMs = 10_000;

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly version: string };
  }[];
}

interface ResourceList {
  readonly resources: readonly { readonly kind: string }[];
}

/** Never rejects, unless the signal has. */
export async function probeHub(
  hub: HubApi,
  templates: readonly TemplateSpec[],
  signal: AbortSignal,
): Promise<Probe> {
  try {
    const needed = [...new Set(templates.flatMap(({ how }) => kindsOf(how)))];
    const kinds = await servedOf(hub, needed, signal);
    const isHosting = templates.some(({ how }) => how.driver === "hypershift");
    const versions = isHosting ? await supportedVersions(hub, signal) : [];
    const ready = await readyOf(hub, templates, signal);
    return { kinds, ...(isHosting && { versions }), ...(ready !== undefined && { ready }) };
  } catch (error) {
    signal.throwIfAborted();
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Which of the kinds it serves. Groups are asked for in one call, which says that it answers. */
async function servedOf(
  hub: HubApi,
  needed: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { groups } = await hub.call<GroupList>({ path: ["apis"], signal, answerMs });
  const served: string[] = [];
  for (const name of needed) {
    const [kind, ...rest] = name.split(".");
    const group = groups.find((each) => each.name === rest.join("."));
    if (group === undefined) continue;
    const path = ["apis", group.name, group.preferredVersion.version];
    const { resources } = await hub.call<ResourceList>({ path, signal, answerMs });
    if (resources.some((each) => each.kind === kind)) served.push(name);
  }
  return served;
}

/** Clusters that Hive's pools have running and unclaimed, by template. */
async function readyOf(
  hub: HubApi,
  templates: readonly TemplateSpec[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>> | undefined> {
  const ready: [string, number][] = [];
  for (const { name, how } of templates) {
    if (how.driver !== "hive" || !("pools" in how)) continue;
    try {
      const within = {
        namespace: how.namespace,
        labels: labelSelector(how.pools),
        signal,
        answerMs,
      };
      const pools = await hub.list<ClusterPool>(poolKind, within);
      ready.push([name, pools.reduce((sum, { status }) => sum + (status?.ready ?? 0), 0)]);
    } catch (error) {
      // It answers, but does not tell: placement does without it.
      if (!(error instanceof DriverError || error instanceof Problem)) throw error;
    }
  }
  return ready.length === 0 ? undefined : Object.fromEntries(ready);
}
