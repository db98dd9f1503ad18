import { poolSizeMax } from "../core/model/field-kinds.ts";

/**
 * How large a configuration may be. The file is read in one go on the thread that serves everybody,
 * at roughly 1 MiB a second, so its size is what bounds the pause; large pools of like resources
 * are written as a `count`, which costs nothing.
 */
export const fileBytesMax = 4 * 1024 * 1024;
export const poolsMax = 10_000;
export const profilesMax = 10_000;
export const authTokensMax = 10_000;
export const issuersMax = 100;
/** Of one issuer. They are tried one after the other. */
export const issuerRulesMax = 1_000;
export const issuerClaimsMax = 32;
export const scopesMax = 32;
/** They are tried one after the other. */
export const certificateRulesMax = 1_000;
export const patternLengthMax = 1_000;
/** Over all pools together, those that `count` makes included. */
export const resourcesMax = poolSizeMax;
/** Of one dimension of one resource; with the largest overcommit it is still a whole number. */
export const amountMax = 10_000_000_000_000;
export const nameLengthMax = 253;
export const stateLengthMax = 63;
export const janitorWordsMax = 256;
export const janitorTextLengthMax = 4_096;
export const janitorVariablesMax = 64;
export const janitorParallelMax = 1_000;
/** Half of what Kubernetes allows a name, so that the rest can say what it is about. */
export const mirrorPrefixLengthMax = 30;
export const mirrorLabelsMax = 32;
export const admissionTolerationsMax = 32;
/** By how much more may be asked for, or used, than there is need of. */
export const factorMax = 100;
export const labelsPerResourceMax = 64;
export const labelKeyLengthMax = 253;
export const labelValueLengthMax = 256;

/** Values that stand in the file once and are read again through aliases. */
export const unfoldedMax = 200_000;
/** Nobody fixes more than this at once; a file of the wrong kind has one for each line. */
export const problemsMax = 1_000;

const secondMs = 1_000;
const dayMs = 86_400_000;

export interface DurationLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Those that are no field of a policy, which have their limits in the table of fields. */
export const innerDurationLimits = {
  timeout: { minMs: secondMs, maxMs: dayMs },
  admission: { minMs: secondMs, maxMs: dayMs },
  session: { minMs: 60 * secondMs, maxMs: dayMs },
  /** A phase of a cluster's life. */
  phase: { minMs: secondMs, maxMs: 7 * dayMs },
  expiry: { minMs: 60 * secondMs, maxMs: 365 * dayMs },
} as const satisfies Readonly<Record<string, DurationLimits>>;

export const priorityLimits = {
  priorityMax: 1_000,
  classesMax: 100,
  /** Each rise of each waiting request is an event of the journal. */
  every: { minMs: 10 * secondMs, maxMs: 7 * dayMs },
} as const;

export const spaceLimits = {
  spacesMax: 10_000,
  weightMin: 0.01,
  weightMax: 1_000,
  quotaMax: amountMax,
  waitingMax: 1_000_000,
  poolPatternsMax: 1_000,
  lifetime: { minMs: secondMs, maxMs: 365 * dayMs },
} as const;

export const templateLimits = {
  templatesMax: 1_000,
  hubsMax: 100,
  parametersMax: 100,
  credentialsMax: 32,
  clustersMax: 10_000,
  costMax: 1_000_000_000,
} as const;

/** More would be no limit. */
export const floodLimitMax = 1_000_000;

/** API servers whose objects are served, and names of each kind that one of them serves. */
export const frontsMax = 100;
export const servedNamesMax = 1_000;
