/**
 * Request ids and group names are chosen by clients, so two spaces may choose the same one. In the
 * broker each has its space in front: nobody can repeat the request of another space, or join its
 * group.
 */
import type { SpaceName } from "../core/model/ids.ts";

export function nameInSpace(space: SpaceName | undefined, name: string): string {
  return space === undefined ? name : `${space}/${name}`;
}

/** The name that the client has chosen. */
export function nameWithoutSpace(space: SpaceName | undefined, name: string): string {
  return space !== undefined && name.startsWith(`${space}/`) ? name.slice(space.length + 1) : name;
}
