/** Tags of the cloud in the objects of a template: for the installer, and for Hive's own machines. */
import { isMap, parseDocument } from "yaml";
import type { ClusterSpec } from "../driver.ts";
import { cloudTags } from "../hub/cloud-tags.ts";
import type { RenderedObject } from "../hub/manifest.ts";
import type { Owner } from "../hub/ownership.ts";
import { deploymentKind } from "./objects.ts";

/** The key of the Secret that the installer reads. */
const installConfigKey = "install-config.yaml";

type Tags = Readonly<Record<string, string>>;

interface SecretObject extends RenderedObject {
  readonly stringData?: Readonly<Record<string, unknown>>;
}

export function tagged(object: RenderedObject, cluster: ClusterSpec, owner: Owner): RenderedObject {
  const tags = cloudTags(cluster, owner);
  if (object.kind === deploymentKind.kind) return taggedDeployment(object, tags);
  const { stringData } = object as SecretObject;
  const config = stringData?.[installConfigKey];
  if (object.kind !== "Secret" || typeof config !== "string") return object;
  const changed = { ...stringData, [installConfigKey]: taggedConfig(config, tags) };
  return { ...object, stringData: changed } as RenderedObject;
}

interface AwsPlatform {
  readonly aws?: { readonly userTags?: Tags };
}

function taggedDeployment(object: RenderedObject, tags: Tags): RenderedObject {
  const { platform } = (object.spec ?? {}) as { platform?: AwsPlatform };
  if (platform?.aws === undefined) return object;
  const aws = { ...platform.aws, userTags: { ...platform.aws.userTags, ...tags } };
  return { ...object, spec: { ...object.spec, platform: { ...platform, aws } } };
}

/** What is no YAML, or is for another cloud, stays as it is: the installer says what is wrong with it. */
function taggedConfig(text: string, tags: Tags): string {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.getIn(["platform", "aws"]))) return text;
  for (const [key, value] of Object.entries(tags)) {
    document.setIn(["platform", "aws", "userTags", key], value);
  }
  return document.toString({ lineWidth: 0 });
}
