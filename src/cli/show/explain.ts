import type { Estimate, Explanation } from "../../api/schemas.ts";
import { roughDuration } from "../../core/model/duration.ts";
import type { CliCommand } from "../cli-command.ts";
import { outputFlag } from "../flags.ts";
import { tableLines } from "../terminal/table.ts";
import { plain } from "../terminal/text.ts";
import { ageOf, untilThen } from "./age.ts";
import { asData } from "./listing.ts";
import { stateText } from "./pools.ts";
import { itemText, requestIds } from "./queue.ts";

type Need = Explanation["needs"][number];

export const explain: CliCommand = {
  args: [["<id>", "a request, by its id or by the id that its client chose"]],
  options: [outputFlag("table", "json", "yaml")],
  completes: requestIds,
  async run({ args: [id = ""], client, flags, print, screen }) {
    const { output } = flags<{ output: "table" | "json" | "yaml" }>();
    const explanation = await client.explain(id);
    if (output === "table") print(inWords(explanation, screen.width()).join("\n"));
    else print(await asData(explanation, output));
    return undefined;
  },
};

export function inWords({ request, needs }: Explanation, width?: number): string[] {
  const { holder, items, position, estimate, waitedSeconds, reason } = request;
  const waited = roughDuration(waitedSeconds * 1_000);
  const eta = estimate === null ? "" : `, its turn comes ${whenText(estimate)}`;
  return [
    plain(`${holder} has waited ${waited} for ${itemText(items)}.`),
    `It is at place ${position}${eta}. ${plain(reason.message)}.`,
    ...needs.flatMap((need) => ["", ...needInWords(need, width)]),
  ];
}

function whenText({ p50Seconds, p90Seconds }: Estimate): string {
  const about = p50Seconds < 1 ? "any moment" : `in about ${roughDuration(p50Seconds * 1_000)}`;
  return `${about}, nine times in ten within ${roughDuration(p90Seconds * 1_000)}`;
}

function needInWords(need: Need, width: number | undefined): string[] {
  const { pool, needed, available, free, size, states, ahead } = need;
  const kept = free > available ? `, ${free - available} of them kept for those before it` : "";
  return [
    plain(`${pool}: needs ${needed}, ${free} of ${size} free${kept} (${stateText(states)})`),
    ...roomsInWords(need),
    ...flowInWords(need),
    ...(ahead === 0 ? ["  Nobody is ahead of it."] : aheadInWords(need, width)),
    ...holdersInWords(need, width),
  ];
}

/** Where it is lent by amount: what is missing on each resource, and who has it the longest. */
function roomsInWords({ rooms = [] }: Need): string[] {
  return rooms.map(({ resource, fits, unfit, short, keptFor, longest }) => {
    const missing = short.map(({ dimension, asked, free }) => `${free} of ${asked} ${dimension}`);
    const why = unfit ?? (fits ? "has room" : `has ${missing.join(", ")}`);
    const kept = keptFor.map(({ holder }) => `; room is kept for ${holder}`).join("");
    const who = longest === undefined ? "" : `; longest held by ${longest.holder}`;
    return plain(`  ${resource}: ${why}${kept}${who}`);
  });
}

/** When the pace lets the next one go, and the limits that it draws on. */
function flowInWords({ pool, nextAt, nextBy, limits }: Need): string[] {
  // An older server does not tell whose it is.
  const of = nextBy ? `The pace of ${nextBy}` : "The pace";
  const whose = nextBy === pool ? "Its pace" : of;
  const next = nextAt === null ? [] : [plain(`  ${whose} lets the next one go at ${nextAt}.`)];
  const shared = limits.map(({ pool, used, limit }) =>
    plain(`  It draws on ${pool}: ${used} of ${limit} are lent.`),
  );
  return [...next, ...shared];
}

function aheadInWords({ ahead, aheadOfIt }: Need, width: number | undefined): string[] {
  const columns = [
    { header: "AHEAD", cell: ({ holder }: Need["aheadOfIt"][number]) => holder },
    { header: "ID", cell: ({ id }: Need["aheadOfIt"][number]) => id, whole: true },
    { header: "WANTS", cell: ({ count }: Need["aheadOfIt"][number]) => String(count) },
    { header: "KEEPS", cell: ({ keeps }: Need["aheadOfIt"][number]) => String(keeps) },
  ];
  return indented(columns, aheadOfIt, ahead, width);
}

function holdersInWords({ heldBy, states }: Need, width: number | undefined): string[] {
  if (heldBy.length === 0) return ["  Nobody holds any of it."];
  const columns = [
    { header: "HELD BY", cell: ({ holder }: Need["heldBy"][number]) => holder },
    { header: "LEASE", cell: ({ id }: Need["heldBy"][number]) => id, whole: true },
    { header: "RESOURCE", cell: ({ resource }: Need["heldBy"][number]) => resource },
    { header: "FOR", cell: ({ since }: Need["heldBy"][number]) => ageOf(since) },
    { header: "BACK WITHIN", cell: ({ backBy }: Need["heldBy"][number]) => untilThen(backBy) },
  ];
  const lines = indented(columns, heldBy, states["busy"] ?? heldBy.length, width);
  return [...lines, "  Back within: at the latest, if its holder falls silent now."];
}

/** The server names the first few only, and says how many there are. */
function indented<Item>(
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
