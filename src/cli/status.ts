import type { Pool } from "../api/schemas.ts";
import { seconds } from "./age.ts";
import type { CliCommand, Context } from "./cli-command.ts";
import { list, listOptions } from "./listing.ts";
import { heldIn, outOf, poolNames, readPools } from "./pools.ts";
import { paint, type Screen } from "./screen.ts";
import type { Column } from "./table.ts";

const barWidth = 12;

function columnsFor(screen: Screen): readonly Column<Pool>[] {
  return [
    { header: "POOL", cell: ({ name }) => name },
    { header: "HELD", cell: (pool) => bar(pool, screen.unicode), whole: true },
    { header: "", cell: (pool) => `${heldIn(pool)}/${pool.total}`, align: "right" },
    { header: "FREE", cell: ({ free }) => String(free), align: "right" },
    { header: "OUT", cell: (pool) => String(outOf(pool)), align: "right" },
    { header: "WAITING", cell: ({ waiting }) => String(waiting), align: "right" },
    { header: "OLDEST", cell: ({ oldestWaitSeconds }) => seconds(oldestWaitSeconds) },
    { header: "MEAN HOLD", cell: (pool) => seconds(pool.meanHoldSeconds), wide: true },
  ];
}

export const status: CliCommand = {
  args: [["[pool...]", "only these"]],
  options: listOptions(),
  help: "\nOUT counts what is neither free nor held: drained, dirty, quarantined, resting.",
  completes: poolNames,
  run: (context) =>
    list(context, {
      columns: columnsFor(context.screen),
      nameOf: ({ name }) => name,
      read: () => readPools(context, context.args),
      none: "There are no pools. Add one to the server's configuration file.",
      adorn: (lines) => adorn(lines, context),
    }),
};

/** Held, then what cannot be lent, then free. */
export function bar(pool: Pool, unicode: boolean): string {
  const [held, out, free] = unicode ? ["█", "▒", "░"] : ["#", "x", "."];
  const share = (count: number) => (pool.total === 0 ? 0 : (count / pool.total) * barWidth);
  // Something is never shown as nothing, nor as everything: 1 of 500 is seen, and so is 499.
  const cells = (count: number) => {
    if (count === 0) return 0;
    if (count === pool.total) return barWidth;
    return Math.min(barWidth - 1, Math.max(1, Math.round(share(count))));
  };
  const heldCells = cells(heldIn(pool));
  const outCells = Math.min(barWidth - heldCells, cells(outOf(pool)));
  const freeCells = barWidth - heldCells - outCells;
  return (
    (held ?? "").repeat(heldCells) + (out ?? "").repeat(outCells) + (free ?? "").repeat(freeCells)
  );
}

function adorn(lines: readonly string[], { screen }: Context): string[] {
  return lines.map((line) =>
    line
      .replace(/█+/, (cells) => paint(screen, "blue", cells))
      .replace(/▒+/, (cells) => paint(screen, "yellow", cells))
      .replace(/░+/, (cells) => paint(screen, "dim", cells)),
  );
}
