import { expect, test } from "vitest";
import type { Tenancy } from "../../core/decide/configure.ts";
import { Lending, pool } from "../../core/decide/lending.suite.ts";
import type { PoolName, SpaceName } from "../../core/model/ids.ts";
import { defaultSpacePolicy } from "../../core/model/space.ts";
import { tenancyInForce } from "./in-force.ts";

test.each([null, { weight: 2, quotas: [] }])(
  "tenancyInForce() is what was configured (%j)",
  (others) => {
    const quotas = [{ pool: "aws" as PoolName, max: 2 }];
    const payments = { name: "payments" as SpaceName, policy: { ...defaultSpacePolicy, quotas } };
    const ageing = { everyMs: 60_000, step: 1, max: 0 };
    const tenancy: Tenancy = {
      spaces: { spaces: [payments], others },
      priorities: { classes: { urgent: 9 }, ageing },
    };
    const lending = new Lending();
    lending.do({ type: "configure", pools: [pool("aws", 2)], ...tenancy });
    expect(tenancyInForce(lending.state)).toEqual({ ...tenancy, hubs: [] });
  },
);
