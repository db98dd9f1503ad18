/** A kind of object on a hub, and where it is served. */
export interface Kind {
  /** Empty: Kubernetes's own core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As paths name it. */
  readonly plural: string;
  /** What brings it to a hub. */
  readonly from: string;
}

const core = { group: "", version: "v1", from: "Kubernetes" };

export const namespaceKind: Kind = { ...core, kind: "Namespace", plural: "namespaces" };
export const secretKind: Kind = { ...core, kind: "Secret", plural: "secrets" };
export const configMapKind: Kind = { ...core, kind: "ConfigMap", plural: "configmaps" };

/** Without a name: all of them. Without a namespace: of the whole hub. */
export function pathOf(
  { group, version, plural }: Kind,
  namespace?: string,
  name?: string,
): readonly string[] {
  return [
    ...(group === "" ? ["api", version] : ["apis", group, version]),
    ...(namespace === undefined ? [] : ["namespaces", namespace]),
    plural,
    ...(name === undefined ? [] : [name]),
  ];
}

export function apiVersionOf({ group, version }: Kind): string {
  return group === "" ? version : `${group}/${version}`;
}
