/** Namespaces on a hub for tenants: SpaceRequests, and the claims Namespace of eaas.konflux-ci.dev. */
import type { Kind } from "../../drivers/hub/kind.ts";
import {
  conditionsOf,
  fieldIn,
  nameTooLong,
  objectNameMax,
  shortened,
  textIn,
  withConditions,
} from "./conditions.ts";
import type {
  Access,
  FrontKind,
  FrontObject,
  SecretContent,
  Situation,
  Unservable,
  Wanted,
} from "./front-kind.ts";
import { accessParts } from "./kubeconfig-parts.ts";

export const spaceRequestKind: Kind = {
  ...{ group: "toolchain.dev.openshift.com", version: "v1alpha1" },
  ...{ kind: "SpaceRequest", plural: "spacerequests", from: "the definition of SpaceRequests" },
};

export const namespaceClaimKind: Kind = {
  ...{ group: "eaas.konflux-ci.dev", version: "v1alpha1" },
  ...{ kind: "Namespace", plural: "namespaces", from: "the definition of this claim" },
};

const nameMax = objectNameMax - "-access".length;

/** A request that was ready once stays so until it fails: what was provisioned is not provisioning. */
function hasBeenReady(object: FrontObject): boolean {
  return conditionsOf(object).some(({ type, status }) => type === "Ready" && status === "True");
}

function hasFailed(object: FrontObject, reason: string): boolean {
  return conditionsOf(object).some((each) => each.type === "Ready" && each.reason === reason);
}

export class SpaceRequestFront implements FrontKind {
  readonly kind = spaceRequestKind;
  readonly #pools: ReadonlyMap<string, string>;

  constructor(pools: ReadonlyMap<string, string>) {
    this.#pools = pools;
  }

  wants({ spec, metadata }: FrontObject): Wanted | Unservable {
    if (metadata.name.length > nameMax) return { refused: nameTooLong(nameMax) };
    const tier = textIn(spec, "tierName") ?? "";
    const pool = this.#pools.get(tier);
    if (pool !== undefined) return { pool, parameters: {} };
    const known = [...this.#pools.keys()].join(", ");
    return { refused: `Cannot find the tier "${shortened(tier, 253)}": use ${known}` };
  }

  secrets({ metadata }: FrontObject, { kubeconfig }: Access): readonly SecretContent[] {
    return [{ name: `${metadata.name}-access`, data: { kubeconfig } }];
  }

  status(object: FrontObject, situation: Situation, at: string): object {
    const failed = "UnableToProvision";
    const ready = (status: string, reason: string, message = "") => ({
      conditions: withConditions(object, [{ type: "Ready", status, reason, message }], at),
    });
    switch (situation.is) {
      case "ready": {
        const [secret] = this.secrets(object, situation.access);
        const { namespace } = accessParts(situation.access.kubeconfig);
        return {
          ...ready("True", "Provisioned"),
          targetClusterURL: situation.apiUrl,
          namespaceAccess: [{ name: namespace, secretRef: secret?.name }],
        };
      }
      case "destroying":
        return ready("False", "Terminating", situation.message);
      case "failed":
        return ready("False", failed, situation.message);
      default: {
        const isBack = hasBeenReady(object) || hasFailed(object, failed);
        return isBack ? {} : ready("False", "Provisioning", situation.message);
      }
    }
  }
}

export class NamespaceClaimFront implements FrontKind {
  readonly kind = namespaceClaimKind;
  readonly #pool: string;

  constructor(pool: string) {
    this.#pool = pool;
  }

  wants(object: FrontObject): Wanted | Unservable {
    if (secretOf(object) === undefined) {
      return { refused: "Cannot serve the claim: spec.writeConnectionSecretToRef.name is missing" };
    }
    return { pool: this.#pool, parameters: {} };
  }

  secrets(object: FrontObject, { kubeconfig }: Access): readonly SecretContent[] {
    const name = secretOf(object);
    if (name === undefined) return [];
    const { namespace, account, token, server } = accessParts(kubeconfig);
    const data = { namespace, serviceaccount: account, kubeconfig, token, apiserver: server };
    return [{ name, data }];
  }

  status(object: FrontObject, situation: Situation, at: string): object {
    const unavailable = "Unavailable";
    const both = (status: string, reason: string, message = "") => ({
      conditions: withConditions(
        object,
        [
          { type: "Synced", status: "True", reason: "ReconcileSuccess" },
          { type: "Ready", status, reason, message },
        ],
        at,
      ),
    });
    switch (situation.is) {
      case "ready":
        return both("True", "Available");
      case "destroying":
        return both("False", "Deleting", situation.message);
      case "failed":
        return both("False", unavailable, situation.message);
      default: {
        const isBack = hasBeenReady(object) || hasFailed(object, unavailable);
        return isBack ? {} : both("False", "Creating", situation.message);
      }
    }
  }
}

function secretOf({ spec }: FrontObject): string | undefined {
  const name = textIn(fieldIn(spec, "writeConnectionSecretToRef"), "name");
  return name === undefined || name === "" ? undefined : name;
}
