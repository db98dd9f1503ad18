/** What the driver adds to the objects of a template. */
import type { ClusterSpec } from "../driver.ts";
import type { RenderedObject } from "../hub/manifest.ts";
import { cleanupKey, hostedClusterKind } from "./objects.ts";

interface AwsPlatform {
  readonly aws?: { readonly resourceTags?: readonly { readonly key: string }[] };
}

/** The tag by which reapers of clouds know what nobody needs any longer. */
const expiryTag = "expirationDate";

export function tagged(
  object: RenderedObject,
  { name, instance, tags }: ClusterSpec,
  expiryMs: number | undefined,
): RenderedObject {
  if (object.kind !== hostedClusterKind.kind) return object;
  const { metadata, spec = {} } = object;
  const { platform } = spec as { platform?: AwsPlatform };
  const expiry =
    expiryMs === undefined ? {} : { [expiryTag]: new Date(Date.now() + expiryMs).toISOString() };
  const own = Object.entries({ ...tags, "berth-instance": instance, ...expiry });
  const resourceTags = own.map(([key, value]) => ({ key, value: value.slice(0, 256) }));
  const written = (platform?.aws?.resourceTags ?? []).filter(
    ({ key }) => !own.some(([k]) => k === key),
  );
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [cleanupKey]: "true" } },
    spec: {
      infraID: name,
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
