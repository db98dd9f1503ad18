/** What a hub must be able to do for a template. */
import { fillPlaceholders, placeholdersIn } from "../core/model/placeholders.ts";
import { versionIn } from "../core/model/version.ts";
import type { DriverTemplate, TemplateSpec } from "./template-spec.ts";

/** The kind of the object that stands for a cluster, as `KIND.GROUP`. */
export function kindsOf(how: DriverTemplate): readonly string[] {
  switch (how.driver) {
    case "hive":
      return [
        "objects" in how ? "ClusterDeployment.hive.openshift.io" : "ClusterClaim.hive.openshift.io",
      ];
    case "hypershift":
      return ["HostedCluster.hypershift.openshift.io"];
    case "caas":
      return ["ClusterTemplateInstance.clustertemplate.openshift.io"];
    case "cluster-api":
      return ["Cluster.cluster.x-k8s.io"];
    default:
      return [];
  }
}

type Releasing = Pick<TemplateSpec, "how" | "pinned" | "parameters">;

/** The release that the clusters are made of, with places for parameters; undefined if it is not said. */
export function releaseOf({ how, pinned, parameters }: Releasing): string | undefined {
  if (how.driver !== "hypershift") return undefined;
  const main = how.objects.find((object) => object["kind"] === "HostedCluster");
  const image = Object(Object(Object(main)["spec"])["release"])["image"] as unknown;
  const named = typeof image === "string" ? filled(image, pinned) : "";
  if (placeholdersIn(named).length > 0 || versionIn(named) !== undefined) return named;
  if ("version" in parameters) return "$" + "{parameters.version}";
  const { version } = pinned;
  return version === undefined ? undefined : String(version);
}

/** What no request can change is known already. */
function filled(text: string, pinned: TemplateSpec["pinned"]): string {
  const lookUp = (name: string) => pinned[name.replace(/^parameters\./, "")] ?? `$${`{${name}}`}`;
  return String(fillPlaceholders(text, lookUp));
}
