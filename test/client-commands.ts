/** Vectors as command lines: `berth run` and `client.sh run` have the same options. */
import type { ClientRun, VectorAsk } from "./client-vectors.suite.ts";

/** The arguments after `run`. */
export function runArguments({ ask, work, doneFile }: ClientRun): string[] {
  const once = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)];
  const pairs = (name: string, values: Readonly<Record<string, unknown>> | undefined) =>
    Object.entries(values ?? {}).flatMap(([key, value]) => [name, `${key}=${value}`]);
  return [
    ...ask.pools.flatMap((pool) => ["--pool", pool]),
    ...once("--holder", ask.holder),
    ...pairs("--label", ask.labels),
    ...pairs("--amount", ask.amounts),
    ...pairs("--selector", ask.selector),
    ...once("--priority", ask.priority),
    ...once("--ttl", ask.ttl),
    ...once("--lifetime", ask.lifetime),
    ...once("--request-id", ask.requestId),
    ...once("--timeout", ask.timeout),
    ...once("--connect-timeout", ask.connectTimeout),
    ...["--", "sh", "-c", workScript(ask), "work"],
    ...[doneFile, String(work.forMs / 1_000), String(work.exit)],
  ];
}

/** The work is a script: it says what it has got, works for a while, and leaves a file. */
function workScript({ pools }: VectorAsk): string {
  const names = pools.flatMap((pool) => pool.replace(/:.*/, "").split(","));
  const variables = names.map(
    (name) => `\${BERTH_RESOURCE_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}:-}`,
  );
  return `echo "working ${variables.join(" ")}"; sleep "$2"; : >"$1"; exit "$3"`;
}
