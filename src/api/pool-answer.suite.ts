/** A pool as the API answers it, for tests: by default one that lends all it has by the default policy. */
import { inWords } from "../core/model/fields.ts";
import { defaultPolicy } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import type { Pool } from "./schemas.ts";

type PoolFacts = Partial<Omit<Pool, "policy" | "flow">> & {
  readonly policy?: Partial<Pool["policy"]>;
  readonly flow?: Partial<Pool["flow"]>;
};

const policyAnswer: Pool["policy"] = inWords(policyFields, defaultPolicy);

const flowAnswer: Pool["flow"] = {
  everySeconds: null,
  rate: null,
  advisedRate: null,
  nextGrantAt: null,
  nextGrantBy: null,
  pinned: null,
  reports: { throttled: 0, ok: 0 },
  limits: [],
};

export function poolAnswer({ policy, flow, ...facts }: PoolFacts = {}): Pool {
  return {
    name: "aws",
    total: 10,
    free: 4,
    held: 5,
    states: {},
    waiting: 0,
    oldestWaitSeconds: null,
    meanHoldSeconds: null,
    usualWaitSeconds: null,
    retiring: false,
    suspended: null,
    policy: { ...policyAnswer, ...policy },
    flow: { ...flowAnswer, ...flow },
    admission: null,
    ...facts,
  };
}
