/** What the driver adds to the objects of a template. */
import type { ClusterSpec } from "../driver.ts";
import { cloudTags } from "../hub/cloud-tags.ts";
import type { RenderedObject } from "../hub/manifest.ts";
import type { Owner } from "../hub/ownership.ts";
import { cleanupKey, hostedClusterKind } from "./objects.ts";

interface AwsPlatform {
  readonly aws?: { readonly resourceTags?: readonly { readonly key: string }[] };
}

export function tagged(object: RenderedObject, cluster: ClusterSpec, owner: Owner): RenderedObject {
  if (object.kind !== hostedClusterKind.kind) return object;
  const { metadata, spec = {} } = object;
  const { platform } = spec as { platform?: AwsPlatform };
  const tags = cloudTags(cluster, owner);
  const written = (platform?.aws?.resourceTags ?? []).filter(({ key }) => !(key in tags));
  const resourceTags = Object.entries(tags).map(([key, value]) => ({ key, value }));
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [cleanupKey]: "true" } },
    spec: {
      infraID: cluster.name,
      ...spec,
      ...(platform?.aws !== undefined && {
        platform: {
          ...platform,
          aws: { ...platform.aws, resourceTags: [...written, ...resourceTags] },
        },
      }),
    },
  };
}
