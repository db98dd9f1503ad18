/**
 * ClusterTemplateQuotas of the operator of cluster templates, as far as they say which templates a namespace may use,
 * how many instances at a time, and for how long. Each is asked about the instances of its own namespace only.
 */
import type { Kind } from "../../drivers/hub/kind.ts";
import { fieldIn, textIn } from "./conditions.ts";
import type { FrontObject, Situation } from "./front-kind.ts";
import { templateOf } from "./instances.ts";

export const quotaKind: Kind = {
  ...{ group: "clustertemplate.openshift.io", version: "v1alpha1" },
  ...{ kind: "ClusterTemplateQuota", plural: "clustertemplatequotas" },
  from: "the definitions of cluster templates",
};

export interface Allowed {
  readonly name: string;
  readonly count: number | undefined;
  readonly deleteAfterMs: number | undefined;
}

export interface NamespaceQuota {
  readonly budget: number | undefined;
  readonly allowed: readonly Allowed[];
}

/** All quotas of the namespace as one: what one of them allows is allowed. Undefined: there is none. */
export function quotaOf(
  quotas: readonly FrontObject[],
  namespace: string | undefined,
): NamespaceQuota | undefined {
  const own = quotas.filter(({ metadata }) => metadata.namespace === namespace);
  if (own.length === 0) return undefined;
  const budgets = own.flatMap(({ spec }) => numberIn(spec, "budget") ?? []);
  return {
    budget: budgets.length === 0 ? undefined : Math.min(...budgets),
    allowed: own.flatMap(({ spec }) => {
      const list = fieldIn(spec, "allowedTemplates");
      return (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
        const name = textIn(each, "name");
        if (name === undefined) return [];
        const deleteAfterMs = goDurationMs(textIn(each, "deleteAfter") ?? "");
        return [{ name, count: numberIn(each, "count"), deleteAfterMs }];
      });
    }),
  };
}

/** Why the instance must not ask now; undefined: it may. */
export function heldBackBy(
  quota: NamespaceQuota | undefined,
  object: FrontObject,
  /** The other instances of the namespace that have asked and are not gone. */
  others: readonly FrontObject[],
  costOf: (template: string) => number,
): Situation | undefined {
  if (quota === undefined) return undefined;
  const template = templateOf(object.spec);
  const allowed = quota.allowed.find(({ name }) => name === template);
  if (allowed === undefined) {
    const names = quota.allowed.map(({ name }) => name).join(", ");
    const hint = names === "" ? "it allows none" : `it allows ${names}`;
    const message = `Cannot use the template ${template}: the ClusterTemplateQuota of the namespace: ${hint}`;
    return { is: "failed", message };
  }
  const same = others.filter(({ spec }) => templateOf(spec) === template).length;
  if (allowed.count !== undefined && same >= allowed.count) {
    const message = `The quota of the namespace allows ${allowed.count} of ${template} at a time`;
    return { is: "held-back", message };
  }
  if (quota.budget === undefined) return undefined;
  const spent = others.reduce((sum, { spec }) => sum + costOf(templateOf(spec)), 0);
  const cost = costOf(template);
  if (cost > quota.budget) {
    const message = `Cannot use the template ${template}: it costs ${cost}, and the budget of the namespace is ${quota.budget}`;
    return { is: "failed", message };
  }
  if (spent + cost <= quota.budget) return undefined;
  const message = `${spent} of the budget ${quota.budget} of the namespace are used, and ${template} costs ${cost}`;
  return { is: "held-back", message };
}

/** When the instance is deleted; undefined: never. */
export function deletedAtMs(
  quota: NamespaceQuota | undefined,
  { spec, metadata }: FrontObject,
): number | undefined {
  const after = quota?.allowed.find(({ name }) => name === templateOf(spec))?.deleteAfterMs;
  const madeAt = Date.parse(metadata.creationTimestamp ?? "");
  return after === undefined || Number.isNaN(madeAt) ? undefined : madeAt + after;
}

function numberIn(from: unknown, key: string): number | undefined {
  const found = fieldIn(from, key);
  return typeof found === "number" && found > 0 ? found : undefined;
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** A duration as Go writes it, such as 1h30m or 90s. Undefined if it is none, or not positive. */
export function goDurationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:h|ms|m|s))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  const sum = parts.reduce(
    (ms, [, amount, unit = ""]) => ms + Number(amount) * (units[unit] ?? 0),
    0,
  );
  return sum > 0 && Number.isFinite(sum) ? sum : undefined;
}
