/** Which versions of OpenShift a hub can make, and which nodes go with which control plane. */
import { Hopeless } from "../driver.ts";

export interface Version {
  readonly major: number;
  readonly minor: number;
  /** Undefined: only the minor version is known. */
  readonly patch: number | undefined;
}

/** How far the nodes may be behind their control plane. */
const skewMinorsMax = 3;

/** Of `4.20`, `4.20.3`, or of a release image; undefined if it does not say, as with a digest. */
export function versionIn(text: string): Version | undefined {
  const [tagged = ""] = text.split("@");
  const found = /(?:^|:)(\d+)\.(\d+)(?:\.(\d+))?(?:[^/]*)$/.exec(tagged);
  if (found === null) return undefined;
  const [, major, minor, patch] = found;
  return {
    ...{ major: Number(major), minor: Number(minor) },
    patch: patch === undefined ? undefined : Number(patch),
  };
}

/** Refuses a version that the hub cannot make. `supported` has minor versions, such as `4.20`. */
export function mustBeSupported(wanted: Version, supported: readonly string[]): void {
  const known = supported.flatMap((each) => versionIn(each) ?? []);
  if (known.length === 0 || known.some((each) => minorsApart(each, wanted) === 0)) return;
  const sorted = known.toSorted((one, other) => minorsApart(one, other));
  const [nearest] = known.toSorted(
    (one, other) => Math.abs(minorsApart(one, wanted)) - Math.abs(minorsApart(other, wanted)),
  );
  const state = `the hub makes OpenShift ${sorted.map(minorText).join(", ")}`;
  const hint = nearest === undefined ? "" : `; the nearest is ${minorText(nearest)}`;
  throw new Hopeless(`Cannot create a cluster of OpenShift ${text(wanted)}: ${state}${hint}`);
}

/** Nodes are never newer than their control plane, and not much older. */
export function mustFit(nodes: Version, controlPlane: Version): void {
  const behind = minorsApart(controlPlane, nodes);
  const newer =
    behind < 0 || (behind === 0 && (nodes.patch ?? 0) > (controlPlane.patch ?? Infinity));
  if (!newer && behind <= skewMinorsMax) return;
  const state = newer
    ? `its control plane has the older ${text(controlPlane)}`
    : `they are more than ${skewMinorsMax} minor versions behind ${text(controlPlane)}`;
  throw new Hopeless(`Cannot create nodes of OpenShift ${text(nodes)}: ${state}`);
}

/** A new major version is far away from every minor one. */
function minorsApart(one: Version, other: Version): number {
  return (one.major - other.major) * 1_000 + (one.minor - other.minor);
}

function minorText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

function text(version: Version): string {
  return minorText(version) + (version.patch === undefined ? "" : `.${version.patch}`);
}
