import { isLaterThanEstimated, isOverdue } from "../../api/late-estimate.ts";
import { Problem } from "../../api/problem.ts";
import type { Estimate, Explanation, WaitingRequest } from "../../api/schemas.ts";
import { spacesAheadWords } from "../../api/spaces-ahead.ts";
import type { BerthClient } from "../../client/berth-client.ts";
import { formatDuration, roughDuration } from "../../core/model/time.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { tableLines } from "../terminal/table.ts";
import { plain } from "../terminal/text.ts";
import { formatAge, timeUntil } from "./age.ts";
import { formatData } from "./listing.ts";
import { formatStates } from "./pools.ts";
import { formatItems, requestIds } from "./queue.ts";
import { describeQuota, formatHolding } from "./spaces.ts";

type Need = Explanation["needs"][number];
type Shortfall = NonNullable<Need["rooms"]>[number]["short"][number];

export const explain: CliCommand = {
  args: [["<id>", "the request's id, the --request-id of its client, or its holder"]],
  options: [outputFlag("table", "json", "yaml")],
  completes: requestIds,
  async run({ args: [id = ""], client, flags, print, screen }) {
    const { output } = flags<{ output: "table" | "json" | "yaml" }>();
    const explanation = await client.explain(id).catch(async (error: unknown) => {
      const holders = isUnknown(error) ? await requestsOf(client, id) : [];
      if (holders.length > 1) throw severalError(id, holders);
      if (holders[0] !== undefined) return client.explain(holders[0]);
      throw isEnded(error) ? endedError(id, error) : error;
    });
    if (output === "table") print(explanationLines(explanation, screen.width()).join("\n"));
    else print(await formatData(explanation, output));
    return undefined;
  },
};

function isUnknown(error: unknown): boolean {
  return error instanceof Problem && error.code === "request_not_found";
}

/** People know their requests by the holder. */
async function requestsOf(client: BerthClient, holder: string): Promise<string[]> {
  const requests = await client.everyRequest({ holder }).catch(() => []);
  return requests.filter((request) => request.holder === holder).map(({ id }) => id);
}

function severalError(holder: string, ids: readonly string[]): CliError {
  const message = `Cannot explain "${holder}": ${ids.length} requests of this holder wait`;
  return new CliError(plain(message), `Name one of them: ${ids.join(", ")}`, exitCodes.usage);
}

function isEnded(error: unknown): error is Problem {
  return error instanceof Problem && ["request_ended", "lease_ended"].includes(error.code);
}

/** The server's message is for a client that wants to go on with its request. */
function endedError(id: string, { facts }: Problem): CliError {
  const state = `it ended ${formatAge(String(facts["endedAt"]))} ago (${facts["how"]})`;
  const hint = "List past leases and requests: berth history";
  return new CliError(plain(`Cannot explain ${id}: ${state}`), hint, exitCodes.notFound);
}

export function explanationLines(explanation: Explanation, width?: number): string[] {
  const { request, needs, space } = explanation;
  const { holder, items, position, waitedSeconds, reason } = request;
  const waited = roughDuration(waitedSeconds * 1_000);
  return [
    plain(`${holder} has waited ${waited} for ${formatItems(items)}.`),
    `It is at place ${position}${formatTurn(request)}. ${plain(reason.message)}.`,
    ...(request.starved === true ? [starvedText] : []),
    ...(space === undefined ? [] : spaceLines(space)),
    ...needs.flatMap((need) => ["", ...needLines(need, width)]),
  ];
}

const starvedText =
  "It goes first within its priority: its space got nothing of a pool for too long.";

/** Why the space of the request is next, or is not. */
function spaceLines(space: NonNullable<Explanation["space"]>): string[] {
  const { name, weight, share, quotas } = space;
  const [most] = space.holds;
  const because = most === undefined ? "it holds nothing" : `it holds ${formatHolding(most)}`;
  const others = spacesAheadWords(space);
  return [
    plain(`Space ${name}: share ${share.toFixed(3)} (${because}; weight ${weight}). ${others}`),
    ...quotas.map((quota) => plain(`Quota of ${name}: ${describeQuota(quota)}`)),
  ];
}

function formatTurn(request: WaitingRequest): string {
  if (request.estimate === null) return "";
  if (isOverdue(request)) return ", its turn comes later than estimated";
  const late = isLaterThanEstimated(request) ? "; later than first estimated" : "";
  return `, its turn comes ${formatEstimate(request.estimate)}${late}`;
}

function formatEstimate({ p50Seconds, p90Seconds, exact }: Estimate): string {
  if (exact) return `in ${formatDuration(p50Seconds * 1_000)}, when a cooldown or a pace ends`;
  const about = p50Seconds < 1 ? "any moment" : `in about ${roughDuration(p50Seconds * 1_000)}`;
  return `${about}, nine times in ten within ${roughDuration(p90Seconds * 1_000)}`;
}

function needLines(need: Need, width: number | undefined): string[] {
  const { needed, available, free, size, states, ahead } = need;
  const pool = need.selects === undefined ? need.pool : `${need.pool} with ${need.selects}`;
  const reserved = reservedWords(free, available);
  return [
    plain(`${pool}: needs ${needed}, ${free} of ${size} free${reserved} (${formatStates(states)})`),
    ...sharedResourceLines(need),
    ...gateLines(need),
    ...(ahead === 0 ? ["  No request is ahead of it."] : aheadLines(need, width)),
    ...holderLines(need, width),
  ];
}

function reservedWords(free: number, available: number): string {
  if (free <= available) return "";
  if (available === 0) return ", but requests ahead go first";
  return `, ${free - available} reserved for others`;
}

/** For a shared pool: what is missing on each resource, and which holder has it longest. */
function sharedResourceLines({ rooms = [] }: Need): string[] {
  return rooms.map(({ resource, fits, unfit, short, reserved, keptFor, longest }) => {
    const missing = short.map(formatShortfall);
    const why = unfit ?? (fits ? "has capacity" : `has ${missing.join(", ")}`);
    const holders = [...(reserved === true ? ["it"] : []), ...keptFor.map(({ holder }) => holder)];
    const kept = holders.map((holder) => `; capacity is reserved for ${holder}`).join("");
    const who = longest === undefined ? "" : `; longest held by ${longest.holder}`;
    return plain(`  ${resource}: ${why}${kept}${who}`);
  });
}

/** Older servers do not send the capacity. */
function formatShortfall(short: Shortfall): string {
  const { dimension, asked, free, capacity, reservedAhead = 0 } = short;
  const there = capacity === undefined ? "" : `of ${capacity} `;
  const left = reservedAhead === 0 ? "free" : "left after reservations";
  return `${free} ${there}${dimension} ${left}, ${asked} needed`;
}

/** When the next grant may come, and the usage of the parent limits. */
function gateLines({ pool, nextAt, nextBy, limits }: Need): string[] {
  // Older servers do not send `nextBy`.
  const because = nextBy && nextBy !== pool ? `, because of ${nextBy}` : "";
  const next =
    nextAt === null ? [] : [plain(`  No grant for another ${timeUntil(nextAt)}${because}.`)];
  const shared = limits.map(({ pool, used, limit }) =>
    plain(`  Limit of ${pool}: ${used} of ${limit} in use.`),
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
  if (heldBy.length === 0) return ["  No resource of it is held."];
  const columns = [
    { header: "HELD BY", cell: ({ holder }: Need["heldBy"][number]) => holder },
    { header: "LEASE", cell: ({ id }: Need["heldBy"][number]) => id, whole: true },
    { header: "RESOURCE", cell: ({ resource }: Need["heldBy"][number]) => resource },
    { header: "FOR", cell: ({ since }: Need["heldBy"][number]) => formatAge(since) },
    { header: "BACK WITHIN", cell: ({ backBy }: Need["heldBy"][number]) => timeUntil(backBy) },
  ];
  const lines = indentedTable(columns, heldBy, states["busy"] ?? heldBy.length, width);
  return [
    ...lines,
    "  BACK WITHIN: its lease ends by then if no more heartbeats come; a cooldown or lock delay follows.",
  ];
}

/** The server sends the first few items only, and their total number. */
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
