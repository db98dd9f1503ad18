import { describe, expect, test } from "vitest";
import { acquire, change, Lending, pool } from "../decide/lending.suite.ts";
import type { RequestId } from "../model/ids.ts";
import type { Request } from "../model/state.ts";
import { explainNeeds, listedMax, waitReason } from "./explain.ts";

function waiting(lending: Lending, id: string): Request {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`Cannot explain ${id}: it does not wait`);
  return request;
}

interface Case {
  readonly given: () => Lending;
  readonly want: { readonly code: string; readonly pool: string; readonly message: string };
}

const cases: Record<string, Case> = {
  "that all are held": {
    given: () => {
      const lending = new Lending(pool("aws", 2));
      lending.outcome(acquire("a", "aws:2"), acquire("me", "aws"));
      return lending;
    },
    want: { code: "no_free", pool: "aws", message: "All 2 of aws are held; next in line" },
  },
  "how many are ahead": {
    given: () => {
      const lending = new Lending(pool("aws", 1));
      lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("c", "aws"));
      lending.do(acquire("me", "aws"));
      return lending;
    },
    want: { code: "no_free", pool: "aws", message: "The only one of aws is held; 2 ahead" },
  },
  "what the others are, where not all are held": {
    given: () => {
      const lending = new Lending(pool("aws", 3));
      lending.outcome(change("aws-2", { state: "dirty" }), change("aws-3", { drained: true }));
      lending.outcome(acquire("a", "aws"), acquire("me", "aws"));
      return lending;
    },
    want: {
      code: "no_free",
      pool: "aws",
      message: "No aws is free (1 dirty, 1 drained, 1 held); next in line",
    },
  },
  "that none can be lent": {
    given: () => {
      const lending = new Lending(pool("aws", 2));
      lending.outcome(
        change("aws-1", { state: "quarantined" }),
        change("aws-2", { drained: true }),
      );
      lending.do(acquire("me", "aws"));
      return lending;
    },
    want: {
      code: "none_usable",
      pool: "aws",
      message:
        "None of 2 aws can be lent (1 quarantined, 1 drained): aws-1 is quarantined, aws-2 is drained by ann: test; next in line",
    },
  },
  "that some are free, but too few": {
    given: () => {
      const lending = new Lending(pool("aws", 3));
      lending.outcome(acquire("a", "aws:2"), acquire("me", "aws:2"));
      return lending;
    },
    want: {
      code: "not_enough_free",
      pool: "aws",
      message: "1 of 3 aws free, 2 needed; next in line",
    },
  },
  "that others are before it": {
    given: () => {
      const lending = new Lending(pool("aws", 3));
      lending.outcome(acquire("a", "aws:2"), acquire("big", "aws:2"), acquire("me", "aws"));
      return lending;
    },
    want: {
      code: "behind_others",
      pool: "aws",
      message: "1 of 3 aws free, but others are ahead; 1 ahead",
    },
  },
  "that it is kept for an older request": {
    given: () => {
      const lending = new Lending(pool("aws", 1, { patienceMs: 0 }), pool("gcp", 1));
      lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"), acquire("me", "aws"));
      return lending;
    },
    want: {
      code: "kept_for_others",
      pool: "aws",
      message: "1 of 1 aws free, reserved for a request that has waited longer; 1 ahead",
    },
  },
  "the first pool that is in the way": {
    given: () => {
      const lending = new Lending(pool("aws", 1), pool("gcp", 1));
      lending.outcome(acquire("g", "gcp"), acquire("me", "aws gcp"));
      return lending;
    },
    want: { code: "no_free", pool: "gcp", message: "The only one of gcp is held; next in line" },
  },
};

test.each(Object.entries(cases))("waitReason() says %s", (_, { given, want }) => {
  const lending = given();
  expect(waitReason(waiting(lending, "me"), lending.now)).toEqual(want);
});

describe("explainNeeds()", () => {
  test("reports for each pool the need, the free resources and the holders", () => {
    const lending = new Lending(
      pool("aws", 2, { patienceMs: 0, ttlMs: 60_000 }),
      pool("gcp", 1, { holdMs: 7_000, ttlMs: 60_000 }),
    );
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws:2 gcp"));
    lending.now = 5 as typeof lending.now;
    lending.do(acquire("me", "aws gcp"));
    expect(explainNeeds(waiting(lending, "me"), lending.now)).toEqual([
      {
        pool: "aws",
        state: "free",
        needed: 1,
        available: 0,
        free: 2,
        size: 2,
        states: { free: 2 },
        nextAt: null,
        nextBy: null,
        limits: [],
        ahead: 1,
        aheadOfIt: [{ id: "both", holder: "job-both", count: 2, keeps: 2 }],
        heldBy: [],
        rooms: null,
        selects: null,
      },
      {
        pool: "gcp",
        state: "free",
        needed: 1,
        available: 0,
        free: 0,
        size: 1,
        states: { busy: 1 },
        nextAt: null,
        nextBy: null,
        limits: [],
        ahead: 1,
        aheadOfIt: [{ id: "both", holder: "job-both", count: 1, keeps: 0 }],
        heldBy: [
          { id: "g", holder: "job-g", resource: "gcp-1", since: 0, backBy: 7_000, amount: null },
        ],
        rooms: null,
        selects: null,
      },
    ]);
  });

  test("says of one that waits for this pool alone that it keeps all", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("me", "aws"));
    expect(explainNeeds(waiting(lending, "me"), lending.now)).toMatchObject([
      {
        aheadOfIt: [{ id: "b", keeps: "all" }],
        heldBy: [{ id: "a", backBy: 300_000, amount: null }],
      },
    ]);
  });

  test(`lists ${listedMax} at the most, and counts them all`, () => {
    const lending = new Lending(pool("aws", 50));
    for (let number = 0; number < 50; number++) lending.do(acquire(`h${number}`, "aws"));
    for (let number = 0; number < 30; number++) lending.do(acquire(`w${number}`, "aws"));
    const [need] = explainNeeds(waiting(lending, "w29"), lending.now);
    expect(need).toMatchObject({ ahead: 29 });
    expect(need?.aheadOfIt).toHaveLength(listedMax);
    expect(need?.heldBy).toHaveLength(listedMax);
  });
});

function reasonOf(lending: Lending, id: string) {
  return waitReason(waiting(lending, id), lending.now);
}

test("a gang that is whole waits for what it wants, not for its members", () => {
  const lending = new Lending(pool("aws", 2));
  const group = { name: "g", size: 2 };
  lending.outcome(acquire("a", "aws"), acquire("m", "aws", { group }));
  expect(reasonOf(lending, "m")).toMatchObject({ code: "group_incomplete" });
  lending.do(acquire("l", "aws", { group }));
  for (const id of ["m", "l"])
    expect(reasonOf(lending, id)).toMatchObject({ code: "not_enough_free" });
});

test("a request over several pools names the one whose gate is closed", () => {
  const pace = { everyMs: 10_000, burst: 1, jitter: 0 };
  const lending = new Lending(pool("aws", 1), pool("gcp", 2, { pace }));
  lending.outcome(acquire("a", "gcp"), acquire("both", "aws gcp"));
  expect(reasonOf(lending, "both")).toMatchObject({ code: "paced", pool: "gcp" });
});
