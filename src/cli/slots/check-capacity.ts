import {
  analyse,
  type CapacityAnalysis,
  type CapacityRequirements,
  cpuText,
  defaultNeed,
  memoryText,
  needOf,
} from "../../kubernetes/capacity.ts";
import { type Amount, parseToleration, type Toleration } from "../../kubernetes/pod-requests.ts";
import { slotLimits } from "../../slots/limits.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { flag, outputFlag, repeatedFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { tableLines } from "../terminal/table.ts";
import { fromEnvironment, InvalidValue, type Parse, wholeNumber } from "../values.ts";
import { type ClusterFlags, clusterKindOf, clusterOptions } from "./clusters.ts";
import {
  type HolderFlags,
  holderFrom,
  holderOptions,
  type SetFlags,
  setOptions,
  slotSetOf,
} from "./flags.ts";
import { leaseStoreOf } from "./store.ts";

interface Flags extends SetFlags, ClusterFlags, HolderFlags {
  readonly cpu?: number;
  readonly memory?: number;
  readonly margin?: number;
  readonly overcommit?: number;
  readonly clusters?: number;
  readonly tolerate?: readonly Toleration[];
  readonly output: "table" | "json" | "yaml";
}

const amount = wholeNumber(0, 100_000_000);
const clusterCount = wholeNumber(0, slotLimits.slotsMax * 10);

const factor: Parse<number> = (text) => {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number > 0 && number <= 100) return number;
  throw new InvalidValue("it is not a factor", "Write it like 1.0 or 1.25");
};

const toleration: Parse<Toleration> = (text) => {
  const parsed = parseToleration(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidValue("it is not a taint", "Write it like dedicated=ci:NoSchedule");
};

export const slotsCheckCapacity: CliCommand = {
  options: [
    ...setOptions(),
    ...clusterOptions(),
    ...holderOptions(),
    flag("--cpu <millicores>", "CPU of one cluster ($CLUSTER_CPU_REQ_M, else 3000)", amount),
    flag("--memory <mebibytes>", "memory of one cluster ($CLUSTER_MEM_REQ_MI, else 12000)", amount),
    flag("--margin <factor>", "safety factor on both ($SAFETY_MARGIN, else 1.0)", factor),
    flag(
      "--overcommit <factor>",
      "use this share of the workers ($OVERCOMMIT_RATIO); at most 1",
      factor,
    ),
    flag("--clusters <n>", "maximum number ($MAX_CLUSTERS, else the slots)", clusterCount),
    repeatedFlag("--tolerate <taint>", "also use workers with this taint; repeatable", toleration),
    outputFlag("table", "json", "yaml"),
  ],
  help: `
Exits 0 if another cluster fits and 75 if it does not. Counts the requests of all running and pending
pods. Counts nodes that the autoscaler may add once.`,
  async run(context) {
    const flags = context.flags<Flags>();
    const requirements = readRequirements(context);
    const kind = clusterKindOf(flags);
    const { suffix } = holderFrom(flags);
    const [store, { readCapacity }] = await Promise.all([
      leaseStoreOf(flags),
      import("../../kubernetes/read-capacity.ts"),
    ]);
    const analysis = analyse(await readCapacity(store.api, kind, { suffix }), requirements);
    if (flags.output !== "table") context.print(await formatData(analysis, flags.output));
    else context.print(analysisLines(analysis).join("\n"));
    warnAboutSmallQuotas(context, analysis);
    return analysis.enough ? exitCodes.ok : exitCodes.notGranted;
  },
};

function readRequirements({ flags, note }: Context): CapacityRequirements {
  const given = flags<Flags>();
  const cpuM = given.cpu ?? fromEnvironment("CLUSTER_CPU_REQ_M", amount) ?? defaultNeed.cpu;
  const memoryMi =
    given.memory ?? fromEnvironment("CLUSTER_MEM_REQ_MI", amount) ?? defaultNeed.memory;
  const share = given.overcommit ?? fromEnvironment("OVERCOMMIT_RATIO", factor) ?? 1;
  if (share > 1) {
    note(`berth: an overcommit of ${share} counts as 1: the scheduler never overcommits requests`);
  }
  const max = given.clusters ?? fromEnvironment("MAX_CLUSTERS", clusterCount);
  return {
    need: needOf({ cpu: cpuM, memory: memoryMi }),
    margin: given.margin ?? fromEnvironment("SAFETY_MARGIN", factor) ?? 1,
    share,
    clustersMax: max ?? slotSetOf(given).count,
    tolerations: given.tolerate ?? [],
  };
}

interface Row {
  readonly what: string;
  readonly amount: Amount;
}

export function analysisLines(analysis: CapacityAnalysis): string[] {
  const { workers, clusters, enough, reasons, pendingPods, quotas } = analysis;
  const more = workers.max - workers.now;
  const rows: Row[] = [
    { what: "allocatable", amount: analysis.allocatable },
    { what: "autoscaling headroom", amount: analysis.headroom },
    { what: `requested (${pendingPods} pods pending)`, amount: analysis.requested },
    { what: "remaining", amount: analysis.remaining },
    { what: "needed", amount: analysis.needed },
  ];
  const columns = [
    { header: "CAPACITY", cell: ({ what }: Row) => what },
    {
      header: "CPU",
      cell: (row: Row) => cpuText(row.amount),
      align: "right",
    },
    {
      header: "MEMORY",
      cell: (row: Row) => memoryText(row.amount),
      align: "right",
    },
  ] as const;
  return [
    `Workers: ${workers.now}${more > 0 ? `, and ${more} more by autoscaling` : ""}`,
    `Clusters: ${clusters.now} of ${clusters.max}`,
    ...quotas.map(({ name, used, hard }) => `Quota ${name}: ${used} of ${hard}`),
    ...tableLines(columns, rows, { wide: false, headers: true }),
    enough ? "Another cluster fits." : `Another cluster does not fit: ${reasons.join("; ")}.`,
  ];
}

/** Warns early. Otherwise the user would notice only after an hour in the queue. */
function warnAboutSmallQuotas({ flags, note }: Context, { quotas }: CapacityAnalysis): void {
  const { count } = slotSetOf(flags<Flags>());
  for (const { name, hard } of quotas.filter((quota) => quota.hard < count)) {
    note(`berth: quota ${name} allows ${hard} clusters, but there are ${count} slots`);
  }
}
