import type { ConfigDocument } from "./document.ts";
import { mirrorLabelsMax } from "./limits.ts";
import { checkKeys, type Entry, knownFields, readMap, withinLimit } from "./read-map.ts";
import { defaultMirrorPrefix, Mirror } from "./schema-mirror.ts";
import {
  contextKind,
  kubeLabelKeyKind,
  kubeLabelValueKind,
  namespaceKind,
  pathKind,
  prefixKind,
} from "./text-kinds.ts";
import { readText, type TextKind } from "./yaml-scalars.ts";

type Fields = ReadonlyMap<string, Entry>;

/** Which cluster is meant. */
export interface ClusterPlace {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Where the leases are shown as objects of Kubernetes. */
export interface MirrorSpec extends ClusterPlace {
  readonly namespace: string;
  readonly prefix: string;
  readonly labels: Readonly<Record<string, string>>;
}

const expected = { title: "mirror", hint: "write { namespace: berth }" };
const labelsExpected = { title: "map of labels", hint: "write { team: ci }" };
const keys = Object.keys(Mirror.properties);
/** Berth knows its own objects by these. */
const ownLabels = /^(?:app\.kubernetes\.io\/managed-by$|berth\/)/;

/** Undefined where there is none, or, with the reason in the source, if it cannot be used. */
export function readMirror(
  document: ConfigDocument,
  field: Entry | undefined,
): MirrorSpec | undefined {
  if (field === undefined) return undefined;
  const entries = readMap(document, field.value, expected);
  if (entries === undefined) return undefined;
  const fields = knownFields(document, entries, keys);
  if (!fields.has("namespace")) {
    document.source.refuse(field.value, "it has no namespace", expected.hint);
  }
  return {
    namespace: textOf(document, fields, "namespace", namespaceKind) ?? "",
    ...readCluster(document, fields),
    prefix: textOf(document, fields, "prefix", prefixKind) ?? defaultMirrorPrefix,
    labels: readLabels(document, fields.get("labels")),
  };
}

export function readCluster(document: ConfigDocument, fields: Fields): ClusterPlace {
  const kubeconfig = textOf(document, fields, "kubeconfig", pathKind);
  const context = textOf(document, fields, "context", contextKind);
  return {
    ...(kubeconfig === undefined ? undefined : { kubeconfig }),
    ...(context === undefined ? undefined : { context }),
  };
}

export function textOf(
  { source }: ConfigDocument,
  fields: Fields,
  key: string,
  kind: TextKind,
): string | undefined {
  const field = fields.get(key);
  return field && readText(source, field.value, kind);
}

function readLabels(document: ConfigDocument, field: Entry | undefined): MirrorSpec["labels"] {
  if (field === undefined) return {};
  const entries = readMap(document, field.value, labelsExpected) ?? [];
  const size = { count: entries.length, max: mirrorLabelsMax, of: "labels" };
  if (!withinLimit(document, field.at, size)) return {};
  checkKeys(document, entries, kubeLabelKeyKind);
  const labels: Record<string, string> = {};
  for (const { key, at, value } of entries) {
    if (ownLabels.test(key)) {
      document.source.refuse(at, "Berth sets this label itself", "choose another key");
    }
    labels[key] = readText(document.source, value, kubeLabelValueKind) ?? "";
  }
  return labels;
}
