import type { RequestId, ResourceName, SpaceName } from "../../core/model/ids.ts";
import type { Origin } from "../../core/model/origin.ts";
import { exclusiveClaim } from "../../core/model/state.ts";
import type { Context } from "../context.ts";
import { problemOf } from "../problems.ts";

/**
 * Gives one resource back, wherever its pool sends it. It is looked up by name, and given back by the
 * lease that it is held under: should that end in between, the next holder's is not touched.
 */
export async function release(
  { broker }: Context,
  {
    holder,
    space,
    from,
  }: { readonly holder: string; readonly space?: SpaceName; readonly from: Origin },
  name: string,
): Promise<boolean> {
  const held = await broker.read((state) => {
    const claim = exclusiveClaim(state.resources.get(name as ResourceName));
    const ask = claim?.lease.ask;
    if (claim === null || !ask?.byName || ask.holder !== holder) return;
    if (space !== undefined && ask.space !== space) return;
    return { id: claim.lease.id as RequestId, claim: claim.id };
  });
  if (held === undefined) return false;
  const outcome = await broker.submit({ type: "release", ...held }, from);
  if (outcome.type !== "refused") return true;
  const { code } = outcome.refusal;
  if (code === "lease_ended" || code === "lease_not_found" || code === "claim_not_found") {
    return false;
  }
  throw problemOf(outcome.refusal);
}
