/** How templates of drivers on a hub are read. */
import type { ConfigDocument, Spot } from "./document.ts";
import { readText } from "./document.ts";
import { innerDurationLimits } from "./limits.ts";
import { readManifest } from "./read-manifest.ts";
import { readCluster, textOf } from "./read-mirror.ts";
import { type Entry, readDuration, readNamed } from "./read-values.ts";
import { defaultArgoNamespace, defaultBroker } from "./schema-templates.ts";
import type { DriverTemplate } from "./template-spec.ts";
import {
  kubeLabelKeyKind,
  kubeLabelValueKind,
  nameKind,
  namespaceKind,
  prefixKind,
} from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;
type HubDriver = Exclude<DriverTemplate["driver"], "command" | "namespace">;

export function readHub(
  document: ConfigDocument,
  spot: Spot,
  fields: Fields,
  driver: HubDriver,
): DriverTemplate | undefined {
  const hub = {
    ...readCluster(document, fields),
    broker: textOf(document, fields, "broker", prefixKind) ?? defaultBroker,
    ...readExpiry(document, fields),
  };
  switch (driver) {
    case "hive":
      return readHive(document, spot, fields, hub);
    case "caas": {
      const namespace = required(document, spot, fields, "namespace", "clusters");
      const clusterTemplate = required(document, spot, fields, "clusterTemplate", "my-template");
      const argo = textOf(document, fields, "argoNamespace", namespaceKind);
      const argoNamespace = argo ?? defaultArgoNamespace;
      return { driver, ...hub, namespace, clusterTemplate, argoNamespace };
    }
    default: {
      const namespace = required(document, spot, fields, "namespace", "clusters");
      const manifest = readManifest(document, spot, fields.get("manifest"));
      return manifest && { driver, ...hub, namespace, ...manifest };
    }
  }
}

export function readExpiry({ source }: ConfigDocument, fields: Fields): { expiryMs?: number } {
  const expiry = fields.get("expiry");
  const expiryMs = expiry && readDuration(source, expiry.value, innerDurationLimits.expiry);
  return expiryMs === undefined ? {} : { expiryMs };
}

interface Hub {
  readonly broker: string;
}

/** Either clusters of pools, or objects of its own. */
function readHive(
  document: ConfigDocument,
  spot: Spot,
  fields: Fields,
  hub: Hub,
): DriverTemplate | undefined {
  const [pools, manifest] = [fields.get("pools"), fields.get("manifest")];
  if ((pools === undefined) === (manifest === undefined)) {
    const state = pools === undefined ? "it makes nothing" : "it has pools and a manifest";
    document.source.refuse(
      spot,
      state,
      "write pools: to claim clusters, or manifest: to make them",
    );
    return undefined;
  }
  if (pools !== undefined) {
    const namespace = required(document, spot, fields, "namespace", "pools");
    return { driver: "hive", ...hub, namespace, pools: readLabels(document, pools) };
  }
  const own = fields.get("namespace");
  if (own !== undefined) {
    const state = "each ClusterDeployment gets a namespace of its own";
    document.source.refuse(own.at, state, "remove it");
  }
  const read = readManifest(document, spot, manifest);
  return read && { driver: "hive", ...hub, ...read };
}

const labels = {
  title: "map of labels",
  hint: 'write { product: ocp, version: "4.20" }',
  names: kubeLabelKeyKind,
  max: 32,
  of: "labels",
};

function readLabels(document: ConfigDocument, field: Entry): Readonly<Record<string, string>> {
  const found = readNamed(document, field, labels).flatMap(({ key, value }) => {
    const text = readText(document.source, value, kubeLabelValueKind);
    return text === undefined ? [] : [[key, text] as const];
  });
  return Object.fromEntries(found);
}

function required(
  document: ConfigDocument,
  spot: Spot,
  fields: Fields,
  key: "namespace" | "clusterTemplate",
  example: string,
): string {
  if (!fields.has(key)) document.source.refuse(spot, `it has no ${key}`, `add ${key}: ${example}`);
  const kind = key === "namespace" ? namespaceKind : nameKind;
  return textOf(document, fields, key, kind) ?? "";
}
