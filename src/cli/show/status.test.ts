import { expect, test } from "vitest";
import type { Pool } from "../../api/schemas.ts";
import { bar } from "./status.ts";

const policy: Pool["policy"] = {
  ttl: "5m",
  lifetime: null,
  hold: null,
  cooldown: "0s",
  lockDelay: "15s",
  patience: "10m",
  onRelease: "free",
  onExpire: "free",
  silence: {},
  dynamic: null,
  cleaning: null,
  pace: null,
  adaptive: null,
  parent: null,
  limit: null,
};

const flow: Pool["flow"] = {
  everySeconds: null,
  rate: null,
  advisedRate: null,
  nextGrantAt: null,
  nextGrantBy: null,
  pinned: null,
  reports: { throttled: 0, ok: 0 },
  limits: [],
};

function pool(total: number, free: number, held: number): Pool {
  const rest = { waiting: 0, oldestWaitSeconds: null, meanHoldSeconds: null, retiring: false };
  return {
    name: "p",
    total,
    free,
    held,
    states: { free, busy: held },
    ...rest,
    policy,
    flow,
    admission: null,
  };
}

const bars: Record<string, [pool: Pool, want: string]> = {
  "an empty pool": [pool(0, 0, 0), "............"],
  "all free": [pool(4, 4, 0), "............"],
  "all held": [pool(4, 0, 4), "############"],
  "half held": [pool(4, 2, 2), "######......"],
  "one of very many": [pool(1_000, 999, 1), "#..........."],
  "all but one of very many": [pool(1_000, 1, 999), "###########."],
  "held, out and free": [pool(3, 1, 1), "####xxxx...."],
  "held with one out": [pool(1_000, 0, 999), "###########x"],
};
test.each(Object.entries(bars))("bar() shows %s", (_, [of, want]) => {
  expect(bar(of, false)).toBe(want);
});
