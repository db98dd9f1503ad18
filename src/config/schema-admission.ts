/** What must be true outside of Berth before a pool is lent. */
import Type from "typebox";
import { policyFields } from "../core/model/policy-fields.ts";
import { admissionTolerationsMax, factorMax, innerDurationLimits, resourcesMax } from "./limits.ts";
import { duration } from "./schema-fields.ts";
import { clusterFields, Namespace } from "./schema-mirror.ts";

export const defaultAdmission = { everyMs: 30_000, clusterNamespace: "clusters" } as const;

/** `key`, `key=value`, either with `:Effect`. */
export const TaintText = Type.String({
  title: "taint",
  pattern: "^[^=:\\s]{1,316}(?:=[^:\\s]{0,63})?(?::[A-Za-z]{1,20})?$",
});

export const KindText = Type.String({
  title: "kind",
  pattern: "^[a-z0-9]{1,63}\\.v[0-9a-z]{1,20}\\.[a-z0-9.-]{1,253}$",
});

const whole = (description: string, maximum: number) =>
  Type.Optional(Type.Integer({ title: "whole number", description, minimum: 0, maximum }));

const factor = (description: string) =>
  Type.Optional(
    Type.Number({ title: "number", description, minimum: 0.01, maximum: factorMax, default: 1 }),
  );

export const CheckCapacity = Type.Object(
  {
    ...clusterFields,
    cpu: whole("What one cluster needs, in millicores. 3000 unless written.", 100_000_000),
    memory: whole("And of memory, in mebibytes. 12000 unless written.", 100_000_000),
    margin: factor("So many times as much must be free."),
    overcommit: factor("This share of the workers is used at all; above 1 it counts as 1."),
    clusters: whole(
      "So many clusters there may be at the most; as many as the pool has unless written.",
      resourcesMax,
    ),
    clusterKind: Type.Optional(
      Type.String({
        ...KindText,
        description: "Which objects are the clusters: PLURAL.VERSION.GROUP.",
        examples: ["hostedclusters.v1beta1.hypershift.openshift.io"],
      }),
    ),
    clusterNamespace: Type.Optional(
      Type.String({
        ...Namespace,
        description: "Where they are.",
        default: defaultAdmission.clusterNamespace,
      }),
    ),
    tolerate: Type.Optional(
      Type.Array(TaintText, {
        title: "list of taints",
        description: "Workers with these taints count, too.",
        maxItems: admissionTolerationsMax,
        examples: [["dedicated=ci:NoSchedule"]],
      }),
    ),
  },
  {
    title: "capacity check",
    description: "The check of berth slots check-capacity, with its options.",
    additionalProperties: false,
  },
);

export const Admission = Type.Object(
  {
    checkCapacity: CheckCapacity,
    every: Type.Optional(
      duration(innerDurationLimits.admission, {
        example: "30s",
        description:
          "So far apart two checks are at least. Best as long as it takes until what was lent shows " +
          "in the cluster.",
        defaultMs: defaultAdmission.everyMs,
      }),
    ),
  },
  {
    title: "admission",
    description: policyFields.admission.text,
    additionalProperties: false,
    examples: [{ checkCapacity: { cpu: 3000, memory: 12000 }, every: "30s" }],
  },
);
