import type { Estimate, Explanation } from "../../api/schemas.ts";
import { roughDuration } from "../../core/model/duration.ts";
import type { CliCommand } from "../cli-command.ts";
import { outputFlag } from "../flags.ts";
import { tableLines } from "../terminal/table.ts";
import { plain } from "../terminal/text.ts";
import { formatAge, timeUntil } from "./age.ts";
import { formatData } from "./listing.ts";
import { formatStates } from "./pools.ts";
import { formatItems, requestIds } from "./queue.ts";

type Need = Explanation["needs"][number];

export const explain: CliCommand = {
  args: [["<id>", "a request, by its id or by the id that its client chose"]],
  options: [outputFlag("table", "json", "yaml")],
  completes: requestIds,
  async run({ args: [id = ""], client, flags, print, screen }) {
    const { output } = flags<{ output: "table" | "json" | "yaml" }>();
    const explanation = await client.explain(id);
    if (output === "table") print(explanationLines(explanation, screen.width()).join("\n"));
    else print(await formatData(explanation, output));
    return undefined;
  },
};

export function explanationLines({ request, needs }: Explanation, width?: number): string[] {
  const { holder, items, position, estimate, waitedSeconds, reason } = request;
  const waited = roughDuration(waitedSeconds * 1_000);
  const eta = estimate === null ? "" : `, its turn comes ${formatEstimate(estimate)}`;
  return [
    plain(`${holder} has waited ${waited} for ${formatItems(items)}.`),
    `It is at place ${position}${eta}. ${plain(reason.message)}.`,
    ...needs.flatMap((need) => ["", ...needLines(need, width)]),
  ];
}

function formatEstimate({ p50Seconds, p90Seconds }: Estimate): string {
  const about = p50Seconds < 1 ? "any moment" : `in about ${roughDuration(p50Seconds * 1_000)}`;
  return `${about}, nine times in ten within ${roughDuration(p90Seconds * 1_000)}`;
}

function needLines(need: Need, width: number | undefined): string[] {
  const { pool, needed, available, free, size, states, ahead } = need;
  const kept = free > available ? `, ${free - available} of them kept for those before it` : "";
  return [
    plain(`${pool}: needs ${needed}, ${free} of ${size} free${kept} (${formatStates(states)})`),
    ...sharedResourceLines(need),
    ...gateLines(need),
    ...(ahead === 0 ? ["  Nobody is ahead of it."] : aheadLines(need, width)),
    ...holderLines(need, width),
  ];
}

/** Where it is lent by amount: what is missing on each resource, and who has it the longest. */
function sharedResourceLines({ rooms = [] }: Need): string[] {
  return rooms.map(({ resource, fits, unfit, short, keptFor, longest }) => {
    const missing = short.map(({ dimension, asked, free }) => `${free} of ${asked} ${dimension}`);
    const why = unfit ?? (fits ? "has room" : `has ${missing.join(", ")}`);
    const kept = keptFor.map(({ holder }) => `; room is kept for ${holder}`).join("");
    const who = longest === undefined ? "" : `; longest held by ${longest.holder}`;
    return plain(`  ${resource}: ${why}${kept}${who}`);
  });
}

/** When the pace lets the next one go, and the limits that it draws on. */
function gateLines({ pool, nextAt, nextBy, limits }: Need): string[] {
  // An older server does not tell whose it is.
  const of = nextBy ? `The pace of ${nextBy}` : "The pace";
  const whose = nextBy === pool ? "Its pace" : of;
  const next = nextAt === null ? [] : [plain(`  ${whose} lets the next one go at ${nextAt}.`)];
  const shared = limits.map(({ pool, used, limit }) =>
    plain(`  It draws on ${pool}: ${used} of ${limit} are lent.`),
  );
  return [...next, ...shared];
}

function aheadLines({ ahead, aheadOfIt }: Need, width: number | undefined): string[] {
  const columns = [
    { header: "AHEAD", cell: ({ holder }: Need["aheadOfIt"][number]) => holder },
    { header: "ID", cell: ({ id }: Need["aheadOfIt"][number]) => id, whole: true },
    { header: "WANTS", cell: ({ count }: Need["aheadOfIt"][number]) => String(count) },
    { header: "KEEPS", cell: ({ keeps }: Need["aheadOfIt"][number]) => String(keeps) },
  ];
  return indentedTable(columns, aheadOfIt, ahead, width);
}

function holderLines({ heldBy, states }: Need, width: number | undefined): string[] {
  if (heldBy.length === 0) return ["  Nobody holds any of it."];
  const columns = [
    { header: "HELD BY", cell: ({ holder }: Need["heldBy"][number]) => holder },
    { header: "LEASE", cell: ({ id }: Need["heldBy"][number]) => id, whole: true },
    { header: "RESOURCE", cell: ({ resource }: Need["heldBy"][number]) => resource },
    { header: "FOR", cell: ({ since }: Need["heldBy"][number]) => formatAge(since) },
    { header: "BACK WITHIN", cell: ({ backBy }: Need["heldBy"][number]) => timeUntil(backBy) },
  ];
  const lines = indentedTable(columns, heldBy, states["busy"] ?? heldBy.length, width);
  return [...lines, "  Back within: at the latest, if its holder falls silent now."];
}

/** The server names the first few only, and says how many there are. */
function indentedTable<Item>(
  columns: Parameters<typeof tableLines<Item>>[0],
  items: readonly Item[],
  total: number,
  width: number | undefined,
): string[] {
  const room = width === undefined ? undefined : width - 2;
  const lines = tableLines(columns, items, { wide: false, headers: true, width: room });
  const more = total > items.length ? [`… and ${total - items.length} more`] : [];
  return [...lines, ...more].map((line) => `  ${line}`);
}
