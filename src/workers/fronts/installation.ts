/**
 * Whose objects are on an API server. Several installations of Berth may serve one; each writes its mark on what it
 * publishes and serves, and leaves alone what has the mark of another. The mark follows from the secret of the journal: it
 * stays the same over restarts, restored backups and all replicas, and no two installations have the same.
 */
import { createHash } from "node:crypto";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";

/** A label of published templates, an annotation of objects that are served. */
export const installationKey = "berth/installation";

export function installationMark(secret: string): string {
  return createHash("sha256").update(`installation of ${secret}`).digest("hex").slice(0, 20);
}

/** The mark of a published template; undefined: Berth before there were marks has published it. */
export function labelledMark({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[installationKey];
}

export function notedMark({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[installationKey];
}

/** What has been found of another installation that uses the same name. */
export interface OfAnother {
  /** Names of ClusterTemplates. */
  readonly templates: readonly string[];
  /** `namespace/name` of one object, as an example. */
  readonly object: string | undefined;
}

/** Undefined if nothing is another's. */
export function takenText(front: string, { templates, object }: OfAnother): string | undefined {
  const found = [
    ...(templates.length === 0
      ? []
      : [`another installation of Berth publishes ${templates.slice(0, 5).join(", ")} under it`]),
    ...(object === undefined ? [] : [`another installation of Berth serves ${object}`]),
  ];
  if (found.length === 0) return undefined;
  const hint = "Give the API server another name in one of the two configurations";
  const lost = `If the other one is gone for good, remove the label ${installationKey} from its ClusterTemplates`;
  return `Cannot use the name ${front}: ${found.join(", and ")}. ${hint}. ${lost}`;
}
