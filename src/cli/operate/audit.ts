import type { AuditEntry } from "../../api/audit-schemas.ts";
import { auditWords } from "../../api/audit-words.ts";
import { limits } from "../../api/limits.ts";
import { ways } from "../../core/model/origin.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag, onceFlag } from "../flags.ts";
import { formatAge } from "../show/age.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";
import { oneOf, wholeNumber } from "../values.ts";
import { auditExport } from "./audit-export.ts";
import { auditVerify } from "./audit-verify.ts";

interface Flags {
  readonly by?: string;
  readonly space?: string;
  readonly action?: string;
  readonly decisions?: true;
  readonly way?: string;
  readonly pool?: string;
  readonly resource?: string;
  readonly lease?: string;
  readonly text?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

const limitDefault = 50;

const columns: readonly Column<AuditEntry>[] = [
  { header: "AT", cell: ({ at }) => `${formatAge(at)} ago` },
  { header: "BY", cell: nameOf },
  { header: "WAY", cell: ({ way }) => way },
  { header: "DID", cell: sentenceOf, worth: 3 },
  { header: "REASON", cell: ({ reason }) => reason ?? "-" },
  { header: "ACTION", cell: ({ action }) => action, wide: true },
  { header: "OF", cell: objectOf, wide: true },
  { header: "SPACE", cell: ({ space, leaseSpace }) => space ?? leaseSpace ?? "-", wide: true },
  { header: "HOLDER", cell: ({ holder }) => holder ?? "-", wide: true },
  { header: "POOL", cell: ({ pools = [] }) => pools.join(",") || "-", wide: true },
  { header: "TIME", cell: ({ at }) => at, wide: true },
  { header: "NUMBER", cell: ({ number }) => String(number), align: "right", wide: true },
];

export const audit: CliCommand = {
  options: [
    onceFlag("--by <principal>", "only by this principal"),
    onceFlag("--space <space>", "only by callers of this space, or on its leases"),
    onceFlag("--action <action>", "only this action, such as resource-changed or call-refused"),
    flag("--decisions", "only what somebody decided, and what was refused; no grants and releases"),
    flag(
      "--way <way>",
      "only what came this way, such as page or boskos",
      oneOf(...ways, "unknown"),
    ),
    onceFlag("--pool <pool>", "only of this pool"),
    onceFlag("--resource <resource>", "only of this resource"),
    onceFlag("--lease <lease>", "only of this request or lease"),
    onceFlag("--text <text>", "only with this text in a name or reason"),
    flag("--since <time>", "at this time or later: RFC 3339, or an age such as 2h"),
    flag("--until <time>", "before this time"),
    flag(
      "--limit <number>",
      "at most this many, the latest first",
      wholeNumber(1, limits.pageSizeMax),
    ).default(limitDefault),
    ...listOptions(),
  ],
  help: `
BY is the name that the caller has proved; in brackets is one that it has only given. A dash: the
server itself, a caller whose credentials were refused, or one of a server without authentication.
-o wide adds the action and the names that the filters take.`,
  subcommands: {
    verify: { summary: "Check that nobody has changed the record", command: auditVerify },
    export: { summary: "Write the record as JSON lines", command: auditExport },
  },
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ number }) => String(number),
      read: () => readEntries(context),
      emptyText: "No entry matches.",
    }),
};

/** A search over many entries takes several pages. */
async function readEntries({ client, flags }: Context): Promise<readonly AuditEntry[]> {
  const { by, space, action, way, pool, resource, lease, text, since, until, limit, decisions } =
    flags<Flags>();
  const kind = decisions && ("decisions" as const);
  const filter = { kind, by, space, action, way, pool, resource, lease, text, since, until };
  const found: AuditEntry[] = [];
  let after: string | undefined;
  do {
    const page = await client.audit({ ...filter, limit: limit - found.length, after });
    found.push(...page.items);
    after = page.next ?? undefined;
  } while (found.length < limit && after !== undefined);
  return found;
}

function nameOf({ by, as }: AuditEntry): string {
  if (by === undefined) return as === undefined ? "-" : `(${as})`;
  return as === undefined ? by : `${by} (${as})`;
}

/** `drained aws-1`: the sentence of the page, with the names of this entry. */
export function sentenceOf(entry: AuditEntry): string {
  const { holder, lease = "-", resources, pools, detail } = entry;
  const words = auditWords(entry).map((part) => {
    if (typeof part === "string") return part;
    if (part.of === "holder") return holder ?? lease;
    const isResources = part.of === "resources";
    const names = isResources ? resources : pools;
    return names === undefined ? lease : listed(names, sizeOf(detail, isResources, names.length));
  });
  return words.join("");
}

/** A new configuration may name a hundred; `-o json` has all of them. */
const namedMax = 3;

export function objectOf({ resources, pools, lease, detail }: AuditEntry): string {
  const names = resources ?? (lease === undefined ? pools : [lease]);
  if (names === undefined) return String(detail?.["call"] ?? "-");
  return listed(names, sizeOf(detail, resources !== undefined, names.length));
}

function listed(names: readonly string[], size: number): string {
  const more = size - namedMax;
  return more > 0 ? `${names.slice(0, namedMax).join(",")} and ${more} more` : names.join(",");
}

/** An entry of a large configuration names only some. */
function sizeOf(detail: AuditEntry["detail"], isResources: boolean, named: number): number {
  const size = detail?.[isResources ? "resourceCount" : "poolCount"];
  return typeof size === "number" ? size : named;
}
