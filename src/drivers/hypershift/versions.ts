/** Which versions of OpenShift a hub can make, and which nodes go with which control plane. */
import {
  minorsApart,
  nearestVersion,
  supports,
  type Version,
  versionText,
} from "../../core/model/version.ts";
import { Hopeless } from "../driver.ts";

/** How far the nodes may be behind their control plane. */
const skewMinorsMax = 3;

/** Refuses a version that the hub cannot make. `supported` has minor versions, such as `4.20`. */
export function mustBeSupported(wanted: Version, supported: readonly string[]): void {
  if (supports(supported, wanted)) return;
  const { known, nearest } = nearestVersion(supported, wanted);
  const state = `the hub makes OpenShift ${known.join(", ")}`;
  const hint = nearest === undefined ? "" : `; the nearest is ${nearest}`;
  throw new Hopeless(
    `Cannot create a cluster of OpenShift ${versionText(wanted)}: ${state}${hint}`,
  );
}

/** Nodes are never newer than their control plane, and not much older. */
export function mustFit(nodes: Version, controlPlane: Version): void {
  const behind = minorsApart(controlPlane, nodes);
  const newer =
    behind < 0 || (behind === 0 && (nodes.patch ?? 0) > (controlPlane.patch ?? Infinity));
  if (!newer && behind <= skewMinorsMax) return;
  const state = newer
    ? `its control plane has the older ${versionText(controlPlane)}`
    : `they are more than ${skewMinorsMax} minor versions behind ${versionText(controlPlane)}`;
  throw new Hopeless(`Cannot create nodes of OpenShift ${versionText(nodes)}: ${state}`);
}
