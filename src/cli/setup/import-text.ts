import type { ImportReport, LeftBehind } from "../../server/migrate/import-boskos.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { countOf } from "../terminal/text.ts";

const columns: readonly Column<LeftBehind>[] = [
  { header: "RESOURCE", cell: ({ resource }) => resource },
  { header: "TYPE", cell: ({ pool }) => pool },
  { header: "OWNER", cell: ({ owner }) => owner },
  { header: "WHY", cell: whyOf },
];

function whyOf({ why, holder }: LeftBehind): string {
  switch (why) {
    case "not_configured":
      return "the configuration does not have it";
    case "held_already":
      return `${holder} holds it here`;
    case "used_since":
      return "it was leased and released here since";
  }
}

/** Formats the report of an import. */
export function importText(report: ImportReport, dryRun: boolean): string {
  const { resources, leases, already, left, states, unlisted } = report;
  const did = dryRun ? "Would import" : "Imported";
  const detail = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  const lines = [
    `${did} ${countOf(resources, "resource")}${detail.length === 0 ? "" : `: ${detail.join(", ")}`}`,
    `${did} ${countOf(leases, "lease")}`,
  ];
  if (unlisted.length > 0) {
    lines.push(`Not in the configuration, removed when released: ${unlisted.join(", ")}`);
  }
  if (already > 0) {
    const were = already === 1 ? "was" : "were";
    lines.push(`Skipped ${countOf(already, "lease")} that ${were} imported before`);
  }
  if (left.length > 0) {
    const options = { wide: false, headers: true, width: undefined };
    lines.push(
      `Skipped ${countOf(left.length, "resource")}:`,
      ...tableLines(columns, left, options),
    );
  }
  if (dryRun) lines.push("Nothing was changed");
  return lines.join("\n");
}
