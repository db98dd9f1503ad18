import { Option } from "commander";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import type { ClusterStatus, SlotStatus, SlotsStatus, WaiterStatus } from "../../slots/status.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag, outputFlag } from "../flags.ts";
import { formatAge, timeUntil } from "../show/age.ts";
import { formatData } from "../show/listing.ts";
import { type Follow, watch } from "../show/watch.ts";
import { paint } from "../terminal/screen.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { type ClusterFlags, clusterKindOf, clusterOptions } from "./clusters.ts";
import { type SetFlags, setOptions, slotSetOf } from "./flags.ts";
import { leaseStoreOf } from "./store.ts";

const formats = ["table", "wide", "json", "yaml", "name"] as const;

interface Flags extends SetFlags, ClusterFlags {
  readonly output: (typeof formats)[number];
  readonly headers: boolean;
  readonly watch?: boolean;
}

/** Computes ages with the API server's clock, because the timestamps come from it, too. */
function columnsAt(nowMs: number) {
  const ago = (timestamp: string | null) => (timestamp === null ? "" : formatAge(timestamp, nowMs));
  const slots: readonly Column<SlotStatus>[] = [
    { header: "SLOT", cell: ({ slot }) => String(slot), align: "right" },
    { header: "STATE", cell: ({ state, surplus }) => (surplus ? `${state}, surplus` : state) },
    { header: "HOLDER", cell: ({ holder }) => holder ?? "" },
    { header: "AGE", cell: ({ acquiredAt }) => ago(acquiredAt) },
    { header: "RENEWED", cell: ({ renewedAt }) => ago(renewedAt) },
    { header: "EXPIRES IN", cell: ({ expiresAt }) => timeUntil(expiresAt, nowMs) },
    { header: "CLUSTER", cell: ({ cluster }) => cluster ?? "" },
    { header: "FENCE", cell: ({ fence }) => String(fence ?? ""), wide: true },
  ];
  const waiting: readonly Column<WaiterStatus>[] = [
    { header: "PLACE", cell: ({ position }) => String(position), align: "right" },
    { header: "WAITING", cell: ({ holder }) => holder },
    { header: "FOR", cell: ({ since }) => ago(since) },
  ];
  const clusters: readonly Column<ClusterStatus>[] = [
    { header: "CLUSTER", cell: ({ name }) => name },
    { header: "STATE", cell: ({ state }) => state },
    { header: "AGE", cell: ({ createdAt }) => ago(createdAt) },
    { header: "SLOT OF", cell: ({ holder }) => holder ?? "no slot" },
  ];
  return { slots, waiting, clusters };
}

export const slotsStatus: CliCommand = {
  options: [
    ...setOptions(),
    ...clusterOptions(),
    outputFlag(...formats),
    flag("--no-headers", "print tables without the header line"),
    new Option("-w, --watch", "refresh on every change, until Ctrl-C"),
  ],
  async run(context) {
    const flags = context.flags<Flags>();
    const store = await leaseStoreOf(flags);
    const read = () => statusLines(context, store);
    if (!flags.watch) {
      context.print((await read()).join("\n"));
      return undefined;
    }
    return watch(context, read, "There are no slots.", followLeases(store));
  },
};

function followLeases(store: LeaseStore): Follow {
  return async (_, signal, change) => {
    const { LeaseBoard } = await import("../../kubernetes/lease-board.ts");
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    try {
      await using board = await LeaseBoard.open(store, { signal });
      for (; !signal.aborted; change()) await Promise.race([board.changed, ended]);
    } catch {
      // Without a watch the screen is still refreshed at an interval.
    }
  };
}

async function statusLines(context: Context, store: LeaseStore): Promise<string[]> {
  const flags = context.flags<Flags>();
  const status = await readStatus(flags, store);
  switch (flags.output) {
    case "json":
    case "yaml":
      return [await formatData(status, flags.output)];
    case "name":
      return status.slots.filter(({ state }) => state === "held").map(({ slot }) => String(slot));
    default:
      return tables(context, status);
  }
}

async function readStatus(flags: Flags, store: LeaseStore): Promise<SlotsStatus> {
  const [{ statusOf }, { listClusters }] = await Promise.all([
    import("../../slots/status.ts"),
    import("../../kubernetes/clusters.ts"),
  ]);
  const kind = clusterKindOf(flags);
  const [{ items }, clusters] = await Promise.all([store.list(), listClusters(store.api, kind)]);
  const nowMs = store.api.clock.atLeastMs();
  return statusOf({ leases: items, nowMs }, slotSetOf(flags), { kind, clusters });
}

/** The table of slots, then the queue and the clusters if there are any. */
function tables({ screen, flags }: Context, status: SlotsStatus): string[] {
  const { output, headers } = flags<Flags>();
  const options = { wide: output === "wide", headers, width: screen.width() };
  const columns = columnsAt(Date.parse(status.at));
  const marked = tableLines(columns.slots, status.slots, options).map((line) =>
    line.replace(/^ *\d+ +expired/, (found) => paint(screen, "yellow", found)),
  );
  const below = <Item>(of: readonly Column<Item>[], items: readonly Item[]) =>
    items.length === 0 ? [] : ["", ...tableLines(of, items, options)];
  return [
    ...marked,
    ...below(columns.waiting, status.waiting),
    ...below(columns.clusters, status.clusters ?? []),
  ];
}
