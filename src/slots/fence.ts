import { pause, pauseMs } from "../client/pause.ts";
import { isConflict } from "../kubernetes/errors.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { slotLimits } from "./limits.ts";
import type { SlotNames } from "./slot.ts";

/**
 * Returns a number that is larger than every number before, for `leaseTransitions` of a slot.
 *
 * Releasing a slot deletes its Lease, as the shell scripts do, and with it its counter. So one more
 * Lease, `<prefix>-fence`, keeps the counter of all slots. A run that draws a number while it holds
 * the slot has a larger number than all earlier holders.
 */
export async function drawFence(
  store: LeaseStore,
  names: SlotNames,
  above: number,
): Promise<number> {
  for (let tries = 0; ; tries++) {
    try {
      const known = await store.get(fenceName(names));
      const next = Math.max(above, known?.spec?.leaseTransitions ?? 0) + 1;
      if (known === undefined) await store.create(newCounter(names, next));
      else await store.replace(counted(known, next));
      return next;
    } catch (error) {
      if (!isConflict(error) || tries >= slotLimits.conflictsMax) throw error;
      await pause(pauseMs(0) / 4);
    }
  }
}

function fenceName({ prefix }: SlotNames): string {
  return `${prefix}-fence`;
}

function counted(lease: LeaseObject, leaseTransitions: number): LeaseObject {
  return { ...lease, spec: { ...lease.spec, leaseTransitions } };
}

function newCounter(names: SlotNames, leaseTransitions: number): LeaseObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: fenceName(names),
      namespace: names.namespace,
      labels: { app: `${names.app}-queue` },
    },
    spec: { leaseTransitions },
  };
}
