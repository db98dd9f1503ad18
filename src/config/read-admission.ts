import type { PoolName } from "../core/model/ids.ts";
import type { AdmissionPolicy } from "../core/model/policy.ts";
import type { ConfigDocument } from "./document.ts";
import { admissionTolerationsMax, factorMax, innerDurationLimits, resourcesMax } from "./limits.ts";
import { type ClusterPlace, readCluster, textOf } from "./read-mirror.ts";
import { type Entry, optionalNumber, readDuration, readKnown, readTexts } from "./read-values.ts";
import { Admission, CheckCapacity, defaultAdmission } from "./schema-admission.ts";
import { kindTextKind, namespaceKind, taintKind } from "./text-kinds.ts";

/** What a cluster must have room for, in the units of `berth slots check-capacity`. */
export interface CapacityCheckSpec extends ClusterPlace {
  readonly cpu?: number;
  readonly memory?: number;
  readonly margin: number;
  readonly overcommit: number;
  /** Absent: as many as the pool has. */
  readonly clusters?: number;
  readonly clusterKind?: string;
  readonly clusterNamespace: string;
  readonly tolerate: readonly string[];
}

/** How it is found out whether a pool may be lent. */
export interface AdmissionSpec {
  readonly pool: PoolName;
  readonly everyMs: number;
  readonly check: CapacityCheckSpec;
}

export interface AdmissionDraft {
  readonly policy: AdmissionPolicy;
  specFor(pool: string): AdmissionSpec;
}

const expected = { title: "admission", hint: "write { checkCapacity: { cpu: 3000 } }" };
const checkExpected = { title: "capacity check", hint: "write { cpu: 3000, memory: 12000 }" };
const taintsExpected = { title: "list of taints", hint: "write [dedicated=ci:NoSchedule]" };
const keys = Object.keys(Admission.properties);
const checkKeys = Object.keys(CheckCapacity.properties);

/** Undefined where there is none, or, with the reason in the source, if it cannot be used. */
export function readAdmission(
  document: ConfigDocument,
  field: Entry | undefined,
): AdmissionDraft | undefined {
  if (field === undefined) return undefined;
  const fields = readKnown(document, field.value, keys, expected);
  if (fields === undefined) return undefined;
  const [every, checkField] = [fields.get("every"), fields.get("checkCapacity")];
  if (checkField === undefined) {
    document.source.refuse(field.value, "it does not say what is checked", expected.hint);
    return undefined;
  }
  const everyMs =
    every && readDuration(document.source, every.value, innerDurationLimits.admission);
  const check = readCheck(document, checkField);
  if (check === undefined) return undefined;
  return {
    policy: { by: "the capacity check" },
    specFor: (pool) => ({
      pool: pool as PoolName,
      everyMs: everyMs ?? defaultAdmission.everyMs,
      check,
    }),
  };
}

const amounts = { min: 0, max: 100_000_000, whole: true } as const;
const factors = { min: 0.01, max: factorMax };

function readCheck(document: ConfigDocument, field: Entry): CapacityCheckSpec | undefined {
  const fields = readKnown(document, field.value, checkKeys, checkExpected);
  if (fields === undefined) return undefined;
  const cpu = optionalNumber(document, fields.get("cpu"), amounts);
  const memory = optionalNumber(document, fields.get("memory"), amounts);
  const counts = { min: 0, max: resourcesMax, whole: true } as const;
  const clusters = optionalNumber(document, fields.get("clusters"), counts);
  const clusterKind = textOf(document, fields, "clusterKind", kindTextKind);
  const namespace = textOf(document, fields, "clusterNamespace", namespaceKind);
  return {
    ...readCluster(document, fields),
    ...(cpu === undefined ? undefined : { cpu }),
    ...(memory === undefined ? undefined : { memory }),
    margin: optionalNumber(document, fields.get("margin"), factors) ?? 1,
    overcommit: optionalNumber(document, fields.get("overcommit"), factors) ?? 1,
    ...(clusters === undefined ? undefined : { clusters }),
    ...(clusterKind === undefined ? undefined : { clusterKind }),
    clusterNamespace: namespace ?? defaultAdmission.clusterNamespace,
    tolerate: readTaints(document, fields.get("tolerate")),
  };
}

function readTaints(document: ConfigDocument, field: Entry | undefined): readonly string[] {
  if (field === undefined) return [];
  const kind = { ...taintsExpected, kind: taintKind, max: admissionTolerationsMax };
  return readTexts(document, field.value, kind) ?? [];
}
