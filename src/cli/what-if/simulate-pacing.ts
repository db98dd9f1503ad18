import { writeFile } from "node:fs/promises";
import { type Herd, runHerd } from "../../insight/pacing/herd.ts";
import { figuresOf, type HerdFigures } from "../../insight/pacing/herd-figures.ts";
import { herdPolicies, sleepers } from "../../insight/pacing/herd-policies.ts";
import { providerPolicies, providers, runProvider } from "../../insight/pacing/provider.ts";
import { startsPicture } from "../../insight/pacing/starts-picture.ts";
import type { CliCommand } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { type Column, tableLines } from "../terminal/table.ts";

interface Flags {
  readonly svg?: string;
}

interface Row {
  readonly policy: string;
  readonly figures: HerdFigures;
}

const herds: Readonly<Record<string, Herd>> = {
  "no lease": herdPolicies.none,
  "plain lease, 50": herdPolicies.plain,
  "clients sleep 0-900 s": sleepers(1),
  "pace 24 s, 50": herdPolicies.paced,
  "pace 24 s, jitter 0.25": herdPolicies.pacedJitter,
  "pace 24 s, burst 3": herdPolicies.pacedBurst,
  "pace 12 s, 50": herdPolicies.pacedFast,
  "pace 19.2 s, 63": herdPolicies.pacedWide,
};

const minutes = (ms: number): string => (ms / 60_000).toFixed(1);
const right = { align: "right" } as const;

const columns: readonly Column<Row>[] = [
  { header: "POLICY", cell: ({ policy }) => policy },
  { header: "AT ONCE", cell: ({ figures }) => String(figures.atOnceMax), ...right },
  { header: "PER MINUTE", cell: ({ figures }) => String(figures.perMinuteMax), ...right },
  { header: "EARLY", cell: ({ figures }) => String(figures.earlyMax), ...right },
  { header: "LAST START", cell: ({ figures }) => minutes(figures.lastStartMs), ...right },
  { header: "DONE", cell: ({ figures }) => minutes(figures.doneMs), ...right },
  { header: "MEAN WAIT", cell: ({ figures }) => minutes(figures.meanWaitMs), ...right },
  { header: "MAX WAIT", cell: ({ figures }) => minutes(figures.maxWaitMs), ...right },
  { header: "HELD", cell: ({ figures }) => String(figures.heldMax), ...right },
];

const rates: Readonly<Record<string, keyof typeof providerPolicies>> = {
  "plain lease, 50": "plain",
  "pace 24 s": "paced",
  "adaptive, factor 0.7": "adaptive",
  "adaptive, factor 0.5": "adaptiveHalf",
  "adaptive, raised unused": "adaptiveBlind",
};

const throttledColumns: readonly Column<string>[] = [
  { header: "POLICY", cell: (policy) => policy },
  { header: "THROTTLED, STEADY", cell: (policy) => throttled(policy, "steady"), ...right },
  { header: "THROTTLED, FALLING", cell: (policy) => throttled(policy, "failing"), ...right },
];

function throttled(policy: string, provider: keyof typeof providers): string {
  const found = runProvider(providers[provider], providerPolicies[rates[policy] ?? "plain"]);
  return `${found.throttled} of ${found.starts}`;
}

export const pacing: CliCommand = {
  options: [flag("--svg <file>", "write a chart of starts per minute to this file")],
  help: `
First: 50 jobs at the same time and 200 more, one every 6 s; each holds its lease for 20 minutes.
Times are in minutes. EARLY counts jobs in their first 5 minutes. Then: 12 hours with a provider that
throttles if more than 10 jobs are early (steady), or 15 but 6 for three hours (falling). The
simulation uses the server's own rules.`,
  async run({ flags, print, note }) {
    const { svg } = flags<Flags>();
    const found = Object.entries(herds).map(([policy, herd]) => ({
      policy,
      starts: runHerd(herd),
    }));
    const rows = found.map(({ policy, starts }) => ({ policy, figures: figuresOf(starts) }));
    const shown = { wide: false, headers: true, width: undefined };
    print(tableLines(columns, rows, shown).join("\n"));
    print("");
    print(tableLines(throttledColumns, Object.keys(rates), shown).join("\n"));
    if (svg === undefined) return undefined;
    const drawn = ["plain lease, 50", "clients sleep 0-900 s", "pace 24 s, 50"];
    await writeFile(svg, startsPicture(found.filter(({ policy }) => drawn.includes(policy))));
    note(`Wrote ${svg}`);
    return undefined;
  },
};
