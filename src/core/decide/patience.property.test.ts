import fc from "fast-check";
import { expect, test } from "vitest";
import type { Instant } from "../model/time.ts";
import { acquire, Lending, pool, release, renew } from "./lending.suite.ts";

const patienceMs = 1_000;
const holdMsMax = 300;
const stepMs = 10;

const stream = fc.record({
  aws: fc.integer({ min: 1, max: 3 }),
  gcp: fc.integer({ min: 1, max: 3 }),
  wantedAws: fc.integer({ min: 1, max: 3 }),
  wantedGcp: fc.integer({ min: 1, max: 3 }),
  holds: fc.array(fc.integer({ min: stepMs, max: holdMsMax }), { minLength: 5, maxLength: 20 }),
});

/**
 * Two small requests arrive in every step and are released in time. After the big request's
 * patience, all freed resources are kept for it, so it waits for at most one more hold.
 */
test("a request over two pools is granted within its patience and one hold", () => {
  fc.assert(
    fc.property(stream, ({ aws, gcp, wantedAws, wantedGcp, holds }) => {
      const lending = new Lending(
        pool("aws", aws, { patienceMs }),
        pool("gcp", gcp, { patienceMs }),
      );
      const backAt = new Map<string, number>();
      let count = 0;
      const pass = () => {
        lending.tickAt(lending.now + stepMs);
        for (const [id, at] of backAt) {
          if (at > lending.now) continue;
          lending.do(release(id));
          backAt.delete(id);
        }
        for (const name of ["aws", "gcp"]) lending.do(acquire(`s${count++}`, name));
        for (const id of lending.state.leases.keys()) {
          const holdMs = holds[count % holds.length] ?? stepMs;
          if (id !== "big" && !backAt.has(id)) backAt.set(id, lending.now + holdMs);
        }
      };
      for (let step = 0; step < 50; step++) pass();
      const askedAt = lending.now;
      // Earlier requests would be granted first, so they leave. The bound is then the patience and
      // one hold.
      for (const id of [...lending.state.requests.keys()]) {
        lending.do({ type: "leave", id, why: "cancelled" });
      }
      const count_ = { aws: Math.min(aws, wantedAws), gcp: Math.min(gcp, wantedGcp) };
      lending.do(acquire("big", `aws:${count_.aws} gcp:${count_.gcp}`));
      const limit = (askedAt + patienceMs + holdMsMax + 2 * stepMs) as Instant;
      while (lending.held("big") === undefined) {
        expect(lending.now, "the big one starves").toBeLessThanOrEqual(limit);
        pass();
      }
      expect(lending.outcome(renew("big"))).toMatchObject({ type: "granted" });
    }),
    { numRuns: 100 },
  );
});
