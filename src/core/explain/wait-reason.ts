/** Types and texts that all explanations share. */
import type { WaitCode } from "../model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import type { Claim } from "../model/state.ts";
import { earliest, type Instant, never } from "../model/time.ts";
import type { Amounts } from "../shared/placement/shareable.ts";

export interface WaitReason {
  readonly code: WaitCode;
  readonly pool: PoolName;
  readonly message: string;
}

export interface HolderView {
  readonly id: RequestId;
  readonly holder: string;
  readonly resource: ResourceName;
  readonly since: Instant;
  /** When it is released at the latest if no heartbeat comes; null: never. */
  readonly backBy: Instant | null;
  /** Null for an exclusive resource. */
  readonly amount: Amounts | null;
}

export function holderView({ lease, resource, heldUntil, amount }: Claim): HolderView {
  const at = earliest(heldUntil, earliest(lease.expiresAt, lease.endsAt));
  return {
    id: lease.id,
    holder: lease.ask.holder,
    resource: resource.name,
    since: lease.grantedAt,
    backBy: at === never ? null : at,
    amount,
  };
}
