/** The versions that a hub of HyperShift can make, as its operator says. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { DriverError } from "../driver.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { configMapKind } from "../hub/kind.ts";

interface VersionsMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Empty if the hub does not tell. */
export async function supportedVersions(
  hub: HubApi,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  try {
    const name = "supported-versions";
    const found = await hub.find<VersionsMap>(configMapKind, name, {
      ...{ namespace: "hypershift", signal },
    });
    const read = JSON.parse(found?.data?.[name] ?? "{}") as { versions?: unknown };
    return Array.isArray(read.versions) ? read.versions.map(String) : [];
  } catch (error) {
    if (error instanceof DriverError || error instanceof SyntaxError) return [];
    throw error;
  }
}
