/**
 * What watching costs: the id of every call, and traces. Without a receiver of traces the server does not
 * even load them, so there is nothing to compare but with them.
 */
import { type Running, scratchFolder, start, startBerth } from "./process.ts";
import { compareInTurns, load } from "./turns.ts";

export interface CallRow {
  readonly what: string;
  readonly without: number;
  readonly with: number;
  readonly ratio: number;
  readonly work: number;
  readonly others: number;
}

const pool = "quota";
const config = `pools: { ${pool}: { count: 200, ttl: 1s, lockDelay: 0s } }`;

export async function benchCalls(): Promise<CallRow[]> {
  return [
    await compare("ids of calls, constant answers", [
      await start("call-server.ts", []),
      await start("call-server.ts", ["ids"]),
    ]),
    ...(await benchTraces()),
  ];
}

async function benchTraces(): Promise<CallRow[]> {
  const folders = [scratchFolder(), scratchFolder(), scratchFolder()];
  const [first = "", ...others] = folders.map(({ path }) => path);
  const receiver = await start("bare-server.ts", ["{}"]);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.port}` };
  const samplers = {
    "traces of 1 call in 100": {
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
    },
    "traces of every call": {},
  };
  try {
    const rows: CallRow[] = [];
    for (const [at, [what, sampler]] of Object.entries(samplers).entries()) {
      const off = await startBerth(`${first}`, config);
      const on = await startBerth(others[at] ?? "", config, { ...endpoint, ...sampler });
      rows.push(await compare(what, [off, on]));
    }
    return rows;
  } finally {
    await receiver.stop();
    for (const folder of folders) folder.remove();
  }
}

/** Stops both. */
async function compare(
  what: string,
  [plain, watched]: readonly [Running, Running],
): Promise<CallRow> {
  const connections = 64;
  try {
    const { base, measured, ratio, work, others } = await compareInTurns(
      [plain, watched],
      () => load(plain, { connections, pool }),
      () => load(watched, { connections, pool }),
    );
    return { what, without: base, with: measured, ratio, work, others };
  } finally {
    await Promise.all([plain.stop(), watched.stop()]);
  }
}
