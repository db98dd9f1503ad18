/** What can only be seen of a pool as a whole: whether its members are lent as the pool says. */
import type { PartKind } from "../core/model/policy.ts";
import type { Entry } from "./read-map.ts";
import type { MemberDraft } from "./read-members.ts";
import type { PoolDraft } from "./read-pool.ts";
import type { Source } from "./source.ts";

type Pool = Pick<PoolDraft, "policy" | "members">;

export function checkCapacities(source: Source, pool: Pool, count: Entry | undefined): void {
  const { placement } = pool.policy;
  if (placement !== undefined && count !== undefined) {
    const state = "resources that are lent by amount have a capacity each";
    source.refuse(count.at, state, "write members: with a capacity for each");
  }
  for (const member of pool.members) {
    if (placement === undefined && member.room !== undefined) {
      const state = "it has a capacity, and the pool is lent whole";
      source.refuse(member.at, state, "add place: least-used to the pool");
    }
    if (placement !== undefined && member.room === undefined) {
      source.refuse(member.at, "it has no capacity", "write capacity: { vcpus: 120 }");
    }
    if (placement !== undefined) checkParts(source, member, placement.parts ?? {});
  }
}

function checkParts(
  source: Source,
  { room, at }: MemberDraft,
  kinds: Readonly<Record<string, PartKind>>,
): void {
  for (const [kind, names] of Object.entries(room?.parts ?? {})) {
    if (room?.capacity[kind] !== undefined) {
      source.refuse(at, `${kind} is both a dimension and a kind of parts`, "rename one of them");
    }
    const known = kinds[kind]?.members;
    const stray = known === undefined ? [] : names.filter((name) => known[name] === undefined);
    if (stray.length === 0) continue;
    const state = `${stray.slice(0, 5).join(", ")} not under the pool's parts, so without attributes`;
    source.warn(at, state, `add it to parts.${kind}.members, or remove it here`);
  }
}
