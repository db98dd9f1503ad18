import type { AttentionItem } from "../../api/attention-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { sinceWords } from "../../api/since-words.ts";
import type { Context } from "../cli-command.ts";
import { formatAge } from "./age.ts";
import type { ListFlags } from "./listing.ts";

/** What needs somebody, to stderr: the same list as on the page. */
export async function noteAttention(context: Context): Promise<void> {
  const { client, flags, note } = context;
  const { output, watch } = flags<ListFlags>();
  if (watch || (output !== "table" && output !== "wide")) return;
  const found = await client.attention().catch(unlessDenied);
  if (found === undefined) return await noteConfig(context); // An older server does not have the list.
  for (const line of found.items.flatMap(attentionLines)) note(line);
}

/**
 * What a table adds may be missing, but not because the server knows no such caller: the next call
 * would be refused too, and each counts as an attempt.
 */
function unlessDenied(error: unknown): undefined {
  if (error instanceof Problem && [401, 403].includes(error.status)) throw error;
  return undefined;
}

/** How many of them are named; the command shows all. */
const namedMax = 3;

export function attentionLines(item: AttentionItem): string[] {
  const { code, summary, since, advice, command, about, count } = item;
  const age = since === null ? "" : `, ${sinceWords(code, count)} ${formatAge(since)}`;
  const named = about.slice(0, namedMax).map(({ name, text, since: from }) => {
    // The first line has the age of the oldest.
    const own =
      from === null || about.length === 1 ? "" : `, ${sinceWords(code, 1)} ${formatAge(from)}`;
    return `  ${[`${name}${own}`, text].filter((word) => word !== "").join(": ")}`;
  });
  const more = count - named.length;
  return [
    `${summary}${age}`,
    ...named,
    ...(more > 0 ? [`  and ${more} more`] : []),
    `  ${advice}${command === "" ? "" : ` (${command})`}`,
  ];
}

async function noteConfig({ client, note }: Context): Promise<void> {
  const found = await client.config().catch(() => undefined);
  if (found === undefined) return; // The read of the pools reports the error.
  for (const problem of found.problems ?? []) note(`The new configuration is refused: ${problem}`);
  for (const warning of found.warnings ?? []) note(`Warning of the configuration: ${warning}`);
}
