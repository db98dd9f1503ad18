import type { KubeObject } from "./kube-objects.ts";
import { parseQuantity } from "./quantity.ts";

/** CPU in cores and memory in bytes. */
export interface Amount {
  readonly cpu: number;
  readonly memory: number;
}

export type Quantities = Readonly<Record<string, string | number>>;

export interface Container {
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
  /** `Always` makes an init container a sidecar. */
  readonly restartPolicy?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/**
 * Parses `key` or `key=value`, each with an optional `:Effect`, as `kubectl taint` writes them.
 * Returns undefined for another form.
 */
export function parseToleration(text: string): Toleration | undefined {
  const [, key, value, effect] = /^([^=:\s]+)(?:=([^:\s]*))?(?::([A-Za-z]+))?$/.exec(text) ?? [];
  if (key === undefined) return undefined;
  return {
    key,
    ...(value === undefined ? { operator: "Exists" } : { operator: "Equal", value }),
    ...(effect === undefined ? undefined : { effect }),
  };
}

export interface PodObject extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly overhead?: Quantities;
    readonly tolerations?: readonly Toleration[];
  };
  readonly status?: { readonly phase?: string };
}

export const nothing: Amount = { cpu: 0, memory: 0 };

export function plus(one: Amount, other: Amount): Amount {
  return { cpu: one.cpu + other.cpu, memory: one.memory + other.memory };
}

export function times(amount: Amount, factor: number): Amount {
  return { cpu: amount.cpu * factor, memory: amount.memory * factor };
}

export function largest(one: Amount, other: Amount): Amount {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory) };
}

/**
 * Throws if a quantity cannot be parsed. Counting it as 0 would report free capacity that does not
 * exist.
 */
export function amountOf(quantities: Quantities | undefined, otherwise?: Quantities): Amount {
  const read = (key: string) => {
    const text = quantities?.[key] ?? otherwise?.[key] ?? "0";
    const amount = parseQuantity(text);
    if (amount === undefined) throw new TypeError(`Cannot read the quantity "${text}" of ${key}`);
    return amount;
  };
  return { cpu: read("cpu"), memory: read("memory") };
}

/**
 * The amount that the scheduler reserves for a pod. Init containers run one after the other, each
 * together with the sidecars that started before it. So the largest sum at one moment counts, not
 * the total.
 */
export function requestsOf({ spec }: PodObject): Amount {
  let staying = nothing;
  let peak = nothing;
  for (const container of spec?.initContainers ?? []) {
    const own = requested(container);
    if (container.restartPolicy === "Always") staying = plus(staying, own);
    peak = largest(peak, container.restartPolicy === "Always" ? staying : plus(staying, own));
  }
  const running = (spec?.containers ?? []).map(requested).reduce(plus, staying);
  return plus(largest(peak, running), amountOf(spec?.overhead));
}

/** Kubernetes uses the limit as the request if there is no request. */
function requested({ resources }: Container): Amount {
  return amountOf(resources?.requests, resources?.limits);
}
