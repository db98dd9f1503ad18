import { isLaterThanEstimated } from "../../../src/api/late-estimate.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { waitCause } from "../parts/event-verbs.ts";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Age } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { at } from "../router.ts";
import { queueFacts } from "./queue-facts.ts";

/** `the pace` of `the pace, which is reduced`: there is little room. */
function shortCause(code: string): string {
  return waitCause(code).split(",")[0] ?? code;
}

/** How many wait, who has waited longest, and for what most wait: of the listed requests. */
export function QueueTiles({
  requests,
  all,
}: {
  requests: readonly WaitingRequest[];
  all: number;
}) {
  const { oldest, cause, late } = queueFacts(requests, isLaterThanEstimated);
  const figures: Figure[] = [
    {
      label: "Waiting",
      value: requests.length,
      aside: requests.length === all ? "" : `of ${all}`,
    },
    oldest === undefined
      ? { label: "Longest wait", value: "–" }
      : {
          label: "Longest wait",
          value: <Age since={oldest.queuedAt} />,
          aside: <Unbroken text={oldest.holder} />,
          href: at("requests", oldest.id),
        },
    {
      label: "Most wait for",
      value: cause === undefined ? "–" : shortCause(cause.code),
      aside: cause === undefined ? "" : `${cause.count} of ${requests.length}`,
    },
    { label: "Later than estimated", value: late, bad: late > 0 },
  ];
  return <Figures label="The queue in numbers" figures={figures} />;
}
