/** The driver of a template whose clusters something else makes, on a hub. */
import type {
  CommandTemplate,
  DriverTemplate,
  NamespaceTemplate,
} from "../../config/template-spec.ts";
import { CaasDriver } from "../../drivers/caas/caas-driver.ts";
import { ClusterApiDriver } from "../../drivers/cluster-api/cluster-api-driver.ts";
import type { Driver } from "../../drivers/driver.ts";
import { HiveClaimDriver } from "../../drivers/hive/claim-driver.ts";
import { HiveDeploymentDriver } from "../../drivers/hive/deployment-driver.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { HyperShiftDriver } from "../../drivers/hypershift/hypershift-driver.ts";
import type { SecretMask } from "../../drivers/secret-mask.ts";

type HubTemplate = Exclude<DriverTemplate, CommandTemplate | NamespaceTemplate>;

interface HubMeans {
  readonly hibernates: boolean;
  readonly credentials: Readonly<Record<string, string>>;
  readonly mask: SecretMask;
}

export function openHubDriver(
  hub: HubApi,
  how: HubTemplate,
  { hibernates, credentials, mask }: HubMeans,
): Driver {
  const { broker, expiryMs } = how;
  const owner = { broker, expiryMs };
  switch (how.driver) {
    case "hive": {
      if ("objects" in how) {
        const { objects } = how;
        return new HiveDeploymentDriver(hub, { owner, objects, credentials, hibernates }, mask);
      }
      const { namespace, pools } = how;
      return new HiveClaimDriver(hub, { owner, namespace, pools, hibernates }, mask);
    }
    case "caas": {
      const { namespace, clusterTemplate, argoNamespace } = how;
      return new CaasDriver(hub, { owner, namespace, clusterTemplate, argoNamespace }, mask);
    }
    default: {
      const { namespace, objects, driver } = how;
      const settings = { owner, namespace, objects, credentials };
      return driver === "hypershift"
        ? new HyperShiftDriver(hub, settings, mask)
        : new ClusterApiDriver(hub, settings, mask);
    }
  }
}
