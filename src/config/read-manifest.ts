/** The objects that a template makes for each cluster: read from a file, and checked as a whole. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { JsonValue } from "../core/model/placeholders.ts";
import { type ConfigDocument, quote, type Spot } from "./document.ts";
import { explainFault } from "./file-faults.ts";
import { checkPlaces, type Refuse } from "./manifest-places.ts";
import { textOf } from "./read-mirror.ts";
import type { Entry } from "./read-values.ts";
import type { ManifestObject, TemplateSpec } from "./template-spec.ts";
import { pathKind } from "./text-kinds.ts";

/** The name of a cluster, which every name of an object must begin with. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is filled in later.
const namePlace = "${name}";

/** The kind that is the cluster itself. There is one of it, and it has the name of the cluster. */
const mainKinds: Readonly<Record<string, string>> = {
  ...{ hive: "ClusterDeployment", hypershift: "HostedCluster", "cluster-api": "Cluster" },
};

interface Manifest {
  readonly manifest: string;
  readonly objects: readonly ManifestObject[];
}

/** Undefined, with the reason in the source, if there is none or if it cannot be read. */
export function readManifest(
  document: ConfigDocument,
  spot: Spot,
  field: Entry | undefined,
): Manifest | undefined {
  const { source } = document;
  if (field === undefined) {
    source.refuse(spot, "it has no manifest", "add manifest: and a file with its objects");
    return undefined;
  }
  const written = textOf(document, new Map([["manifest", field]]), "manifest", pathKind);
  if (written === undefined) return undefined;
  if (source.programs === undefined) return { manifest: written, objects: [] };
  const manifest = source.programs.pathOf(written);
  let text: string;
  try {
    text = readFileSync(manifest, "utf8");
  } catch (error) {
    const { state, hint } = explainFault(error);
    const where = `${hint}; a path is relative to this file`;
    source.refuse(field.value, `"${manifest}" cannot be read: ${state}`, where);
    return undefined;
  }
  try {
    const documents = parseAllDocuments(text);
    for (const { errors } of documents) for (const error of errors) throw error;
    const read = documents.map((each) => each.toJS() as JsonValue);
    return { manifest, objects: read.filter(isObject) };
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split("\n");
    const state = `"${manifest}" is not YAML: ${why?.replace(/:$/, "")}`;
    source.refuse(field.value, state, "check indentation, quotes and brackets there");
    return undefined;
  }
}

/** What would go wrong with each cluster is refused here, once. */
export function checkManifest(
  { source }: ConfigDocument,
  fields: ReadonlyMap<string, Entry>,
  spec: Omit<TemplateSpec, "revision">,
): void {
  const field = fields.get("manifest");
  const { how } = spec;
  // Without a folder the file could not be read; then nothing is made from it either.
  if (field === undefined || !("objects" in how) || source.programs === undefined) return;
  const refuse = (state: string, hint: string) => source.refuseInside(field.value, state, hint);
  for (const object of how.objects) checkObject(object, how.driver, refuse);
  const main = mainKinds[how.driver] ?? "";
  const found = how.objects.filter(({ kind }) => kind === main);
  if (found.length !== 1) refuse(`it has ${found.length} objects of kind ${main}`, "write one");
  for (const each of found) {
    if (nameOf(each) !== namePlace)
      refuse(`the name of its ${main} is another`, `write ${namePlace}`);
    const { spec: inner } = each;
    if (isObject(inner) && inner["preserveOnDelete"] === true) {
      refuse("preserveOnDelete would leave every cluster in its cloud", "remove it");
    }
  }
  checkPlaces(how, spec, refuse);
}

function checkObject(object: ManifestObject, driver: string, refuse: Refuse): void {
  const { apiVersion, kind, metadata } = object;
  const name = nameOf(object);
  if (typeof apiVersion !== "string" || typeof kind !== "string" || name === undefined) {
    refuse("it has an object without apiVersion, kind or metadata.name", "complete it");
    return;
  }
  if (isObject(metadata) && metadata["namespace"] !== undefined) {
    refuse(`${kind} ${quote(name)} has a namespace`, "remove it: the template has one for all");
  }
  // Where each cluster has its own namespace, names inside of it are free.
  if (driver !== "hive" && !name.startsWith(namePlace)) {
    const state = `${kind} ${quote(name)} would be the same for all clusters`;
    refuse(state, `begin its name with ${namePlace}`);
  }
}

function nameOf({ metadata }: ManifestObject): string | undefined {
  const name = isObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function isObject(value: JsonValue | undefined): value is ManifestObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
