/** What explains a curve: changes of the rate, new configurations, starts of the server, outages. */
import { useMemo } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { outages, whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { configurationsOf, rateHistoryOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import type { Mark } from "../parts/chart-marks.ts";
import { configurationMarks, outageMarks, rateMarks, startMarks } from "./mark-facts.ts";

const none: Stats["outages"] = [];

/** Of one pool, or of the whole server. */
export function useMarks(
  pool: string | undefined,
  outagesThen: Stats["outages"] = none,
): readonly Mark[] {
  const us = useStore(whoami);
  const lost = useStore(outages);
  const { data: rates } = useAnswer(rateHistoryOf(pool));
  const { data: configurations } = useAnswer(configurationsOf(pool, us?.operator ?? false));
  return useMemo(
    () => [
      ...rateMarks(rates?.changes ?? []),
      ...configurationMarks(configurations ?? []),
      ...startMarks(us?.startedAt, outagesThen),
      ...outageMarks(outagesThen, serverNowMs()),
      ...lost.map(({ from, to }) => ({
        ...{ at: from / 1_000, until: to / 1_000 },
        text: "this page had no connection",
      })),
    ],
    [rates, configurations, us?.startedAt, lost, outagesThen],
  );
}
