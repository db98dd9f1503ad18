/** Names the resources that are not lent for now and, for those who see all, who did that and why. */
import { type Request, type Resource, shownState } from "../model/state.ts";

/** The maximum number of resources in one text. */
const namedMax = 2;

/**
 * Which texts a reader gets: those for `all` name the operator who has done something, and say why;
 * those for a `space` do not.
 */
export type Reader = "all" | "space";

/** Without spaces everybody sees everything. */
export function readerOf({ ask }: Request): Reader {
  return ask.space === undefined ? "all" : "space";
}

/** For example `is drained by ann: new disk`, or `is quarantined: cleaning failed`. */
export function outOfUseText(of: Resource, reader: Reader): string {
  const { drainReason, note, ...resource } = of;
  if (resource.drained && drainReason !== null && reader === "all") {
    const { by, why } = drainReason;
    return `is drained by ${by}${why === "" ? "" : `: ${why}`}`;
  }
  if (resource.drained) return "is drained";
  return `is ${resource.state}${note === "" ? "" : `: ${note}`}`;
}

export function outOfUseList(resources: readonly Resource[], reader: Reader): string {
  const named = resources
    .slice(0, namedMax)
    .map((one) => `${one.name} ${outOfUseText(one, reader)}`);
  const more = resources.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** Whether only a person or a cleaner can put the resource back into use. */
export function isOutOfUse(resource: Resource): boolean {
  return shownState(resource) === "drained" || shownState(resource) === "quarantined";
}
