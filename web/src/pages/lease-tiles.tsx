import { useMemo } from "react";
import type { Lease } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { type Figure, Figures } from "../parts/figures.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { usePlace, withFilters } from "../router.ts";
import { endOf, missedPart, pulseOf, silenceAt, silentPart, silentWords } from "./lease-ends.ts";

/** The next to end, the oldest and the silent ones of the listed leases. The first two sort the list, the last filters it. */
export function LeaseTiles({ leases, all }: { leases: readonly Lease[]; all: number }) {
  const place = usePlace();
  const sortedBy = (sort: string) => withFilters(place, { sort, group: "none" });
  const { next, oldest, pulses } = useMemo(() => extremesOf(leases), [leases]);
  const countFrom = (part: number) => (nowMs: number) =>
    pulses.filter((pulse) => silenceAt(pulse, nowMs) >= part).length;
  const silent = useInTime(countFrom(silentPart));
  const missed = useInTime(countFrom(missedPart)) - silent;
  const figures: Figure[] = [
    {
      label: "Leases",
      value: leases.length,
      aside: leases.length === all ? "" : `of ${grouped(all)}`,
    },
    next === undefined
      ? { label: "Next fixed end", value: "–", aside: leases.length === 0 ? "" : "all on release" }
      : {
          label: "Next fixed end",
          value: <Left until={next.at} />,
          aside: <Unbroken text={next.holder} />,
          href: sortedBy("ends"),
        },
    oldest === undefined
      ? { label: "Oldest", value: "–" }
      : {
          label: "Oldest",
          value: <Age since={oldest.grantedAt} />,
          aside: <Unbroken text={oldest.holder} />,
          href: sortedBy(""),
        },
    leases.length === 0
      ? { label: "Silent", value: "–" }
      : {
          label: "Silent",
          value: silent,
          aside: silentWords(silent, missed),
          ...(silent === 0 ? {} : { href: withFilters(place, { silent: "1" }) }),
          bad: silent > 0,
        },
  ];
  return <Figures label="Leases in numbers" figures={figures} />;
}

function extremesOf(leases: readonly Lease[]) {
  let next: { at: string; atMs: number; holder: string } | undefined;
  let [oldest] = leases;
  for (const lease of leases) {
    const end = endOf(lease);
    const atMs = Date.parse(end?.at ?? "");
    if (end !== null && !(atMs >= (next?.atMs ?? Number.POSITIVE_INFINITY))) {
      next = { ...end, atMs, holder: lease.holder };
    }
    if (oldest !== undefined && lease.grantedAt < oldest.grantedAt) oldest = lease;
  }
  return { next, oldest, pulses: leases.map(pulseOf) };
}
