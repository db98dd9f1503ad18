/** All test clusters on a hub, whoever has made them: what every team builds a dashboard for. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { type ClusterDeployment, deploymentKind } from "../hive/objects.ts";
import { type HostedCluster, hostedClusterKind } from "../hypershift/objects.ts";
import { isTrue } from "./conditions.ts";
import type { HubApi } from "./hub-api.ts";
import type { Kind } from "./kind.ts";
import { labelSelector } from "./label-selector.ts";
import { instanceOf } from "./ownership.ts";

export interface HubCluster {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** RFC 3339; empty if the hub does not say. */
  readonly createdAt: string;
  /** Whoever has made it, as far as labels and annotations tell. */
  readonly owner: string | null;
  readonly state: "ready" | "not ready" | "deleting";
  /** The instance, if Berth has made it. */
  readonly instance: string | null;
}

/** More are not shown. */
export const hubClustersMax = 5_000;

/**
 * Of the kinds that the hub has. Rejects if it does not show us one of them: a list without it would
 * say that there are none.
 */
export async function clustersOnHub(
  hub: HubApi,
  labels: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<readonly HubCluster[]> {
  const { groups } = await hub.call<GroupList>({ path: ["apis"], signal });
  const within = { labels: labelSelector(labels), signal };
  const all = async <Item extends KubeObject>(kind: Kind): Promise<readonly Item[]> => {
    const isServed = groups.some(({ name }) => name === kind.group);
    return isServed ? await hub.list<Item>(kind, within) : [];
  };
  const hosted = await all<HostedCluster>(hostedClusterKind);
  const deployed = await all<ClusterDeployment>(deploymentKind);
  const found = [
    ...hosted.map((each) => described("HostedCluster", each, isTrue(each, "Available"))),
    ...deployed.map((each) => {
      return described("ClusterDeployment", each, each.spec?.installed === true);
    }),
  ];
  return found.slice(0, hubClustersMax);
}

interface GroupList {
  readonly groups: readonly { readonly name: string }[];
}

function described(kind: string, object: KubeObject, isReady: boolean): HubCluster {
  const { name, namespace = "", creationTimestamp = "", deletionTimestamp } = object.metadata;
  const state = deletionTimestamp !== undefined ? "deleting" : isReady ? "ready" : "not ready";
  return {
    ...{ kind, namespace, name, createdAt: creationTimestamp, state },
    owner: ownerOf(object),
    instance: instanceOf(object) ?? null,
  };
}

/** Where people and tools write who has made something. */
const ownerKeys = [
  "clustertemplates.openshift.io/requester",
  "openshift.io/requester",
  "owner",
  "created-by",
  "app.kubernetes.io/created-by",
  "app.kubernetes.io/managed-by",
];

function ownerOf({ metadata }: KubeObject): string | null {
  const { labels = {}, annotations = {}, managedFields = [] } = metadata;
  for (const key of ownerKeys) {
    const found = annotations[key] ?? labels[key];
    if (found !== undefined && found !== "") return found;
  }
  return managedFields[0]?.manager ?? null;
}
