/** Names the resources that are not lent for now, with who took them out of use and why. */
import { type Resource, shownState } from "../model/state.ts";

/** The maximum number of resources in one text. */
const namedMax = 2;

/** For example `is drained by ann: new disk`, or `is quarantined: cleaning failed`. */
export function outOfUseText({ drainReason, note, ...resource }: Resource): string {
  if (resource.drained && drainReason !== null) {
    const { by, why } = drainReason;
    return `is drained by ${by}${why === "" ? "" : `: ${why}`}`;
  }
  if (resource.drained) return "is drained";
  return `is ${resource.state}${note === "" ? "" : `: ${note}`}`;
}

export function outOfUseList(resources: readonly Resource[]): string {
  const named = resources.slice(0, namedMax).map((one) => `${one.name} ${outOfUseText(one)}`);
  const more = resources.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** Whether only a person or a cleaner can put the resource back into use. */
export function isOutOfUse(resource: Resource): boolean {
  return shownState(resource) === "drained" || shownState(resource) === "quarantined";
}
