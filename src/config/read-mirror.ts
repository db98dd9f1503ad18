import { type ConfigDocument, readText, type TextKind } from "./document.ts";
import { faultOfKubeconfig } from "./kubeconfig-fault.ts";
import { mirrorLabelsMax } from "./limits.ts";
import { type Entry, readKnown, readNamed } from "./read-values.ts";
import { defaultMirrorPrefix, Mirror } from "./schema-mirror.ts";
import {
  contextKind,
  kubeLabelKeyKind,
  kubeLabelValueKind,
  namespaceKind,
  pathKind,
  prefixKind,
} from "./text-kinds.ts";

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
const labelEntries = {
  title: "map of labels",
  hint: "write { team: ci }",
  names: kubeLabelKeyKind,
  max: mirrorLabelsMax,
  of: "labels",
};
const keys = Object.keys(Mirror.properties);
/** Berth knows its own objects by these. */
const ownLabels = /^(?:app\.kubernetes\.io\/managed-by$|berth\/)/;

/** Undefined where there is none, or, with the reason in the source, if it cannot be used. */
export function readMirror(
  document: ConfigDocument,
  field: Entry | undefined,
): MirrorSpec | undefined {
  if (field === undefined) return undefined;
  const fields = readKnown(document, field.value, keys, expected);
  if (fields === undefined) return undefined;
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
  const context = textOf(document, fields, "context", contextKind);
  const kubeconfig = readKubeconfig(document, fields, context);
  return {
    ...(kubeconfig === undefined ? undefined : { kubeconfig }),
    ...(context === undefined ? undefined : { context }),
  };
}

/**
 * A relative path is relative to the configuration file, because a server may be started in any
 * folder. Only warns if the file is missing or of no use: the configuration may be checked on another machine.
 */
function readKubeconfig(
  document: ConfigDocument,
  fields: Fields,
  context: string | undefined,
): string | undefined {
  const { source } = document;
  const [field, written] = [
    fields.get("kubeconfig"),
    textOf(document, fields, "kubeconfig", pathKind),
  ];
  if (field === undefined || written === undefined || source.programs === undefined) return written;
  const path = source.programs.pathOf(written);
  const fault = faultOfKubeconfig(path, context);
  if (fault !== undefined) source.warn(field.value, `"${path}" ${fault.state}`, fault.hint);
  return path;
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
  const labels: Record<string, string> = {};
  for (const { key, at, value } of readNamed(document, field, labelEntries)) {
    if (ownLabels.test(key)) {
      document.source.refuse(at, "Berth sets this label itself", "choose another key");
    }
    labels[key] = readText(document.source, value, kubeLabelValueKind) ?? "";
  }
  return labels;
}
