import { isLaterThanEstimated } from "../../../src/api/late-estimate.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { type Figure, Figures } from "../parts/figures.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { at, usePlace, withFilters } from "../router.ts";
import { queueFacts } from "./queue-facts.ts";

/** How many wait, who has waited longest, and for what most wait: of the listed requests. */
export function QueueTiles({
  requests,
  all,
}: {
  requests: readonly WaitingRequest[];
  all: number;
}) {
  const place = usePlace();
  const { oldest, cause, late } = queueFacts(requests, isLaterThanEstimated);
  const figures: Figure[] = [
    {
      label: "Waiting",
      value: requests.length,
      aside: requests.length === all ? "" : `of ${grouped(all)}`,
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
      label: "Most frequent cause",
      value: cause?.what ?? "–",
      aside: cause === undefined ? "" : `${grouped(cause.count)} of ${grouped(requests.length)}`,
      ...(cause?.limit === undefined ? {} : { href: at("pools", cause.limit) }),
    },
    {
      label: "Late",
      value: late,
      aside: "past the 9 in 10 of their first estimate",
      ...(late === 0 ? {} : { href: withFilters(place, { late: "1" }) }),
      bad: late > 0,
    },
  ];
  return <Figures label="The queue in numbers" figures={figures} />;
}
