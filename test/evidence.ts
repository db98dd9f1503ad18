/**
 * What the servers of the tests have written: logs, journals, histories and metrics, and what commands
 * have said, are kept until the end of the whole run, and then searched for the tokens of the tests.
 * None may be there.
 */
import { appendFile, cp, glob, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

const variable = "BERTH_TEST_EVIDENCE";

/** Tells the last check about a token that no server may write down. */
export async function watchFor(token: string): Promise<void> {
  const folder = process.env[variable];
  if (folder === undefined) return;
  watched.add(token);
  await mkdir(folder, { recursive: true });
  await appendFile(join(folder, "tokens"), `${token}\n`);
}

/** The tokens of this test file. */
const watched = new Set<string>();

/** The metrics of a server that still runs; of one with authentication, with a token that may. */
export async function metricsOf(url: string): Promise<string> {
  if (process.env[variable] === undefined) return "";
  for (const token of ["", ...watched]) {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(metricsMs);
    const answer = await fetch(`${url}/metrics`, { headers, signal }).catch(() => undefined);
    if (answer === undefined) return ""; // It has ended, or speaks TLS with its own authority.
    const text = await answer.text();
    if (answer.ok) return text;
  }
  return "";
}

const metricsMs = 2_000;
let kept = 0;

/** Keeps what a server has left behind. */
export async function keepEvidence(log: string, data: string): Promise<void> {
  const folder = process.env[variable];
  if (folder === undefined) return;
  const into = join(folder, "servers", `${process.pid}-${kept++}`);
  await mkdir(into, { recursive: true });
  await appendFile(join(into, "log"), log);
  // The tests of a damaged disk leave folders that cannot be read.
  await cp(data, join(into, "data"), { recursive: true }).catch(() => {});
}

/** Signed tokens, tokens of `berth token new`, and what a header has. */
const shapes = [
  /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
  /\bberth_[\w-]{43}\b/,
  /\b(?:Bearer|Basic) [\w.~+/=-]{12,}/,
];

export interface Searched {
  readonly files: number;
  readonly bytes: number;
  readonly tokens: number;
  /** Files and what is in them, without the token itself. */
  readonly leaks: readonly string[];
}

export async function searchEvidence(folder: string): Promise<Searched> {
  const written = await readFile(join(folder, "tokens"), "utf8").catch(() => "");
  const tokens = new Set(written.split("\n").filter((line) => line.length >= 6));
  const leaks: string[] = [];
  let [files, bytes] = [0, 0];
  for await (const entry of glob("servers/**", { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, "latin1");
    files += 1;
    bytes += text.length;
    for (const token of tokens) {
      if (text.includes(token)) leaks.push(`${path} has the token ${token.slice(0, 4)}…`);
    }
    for (const shape of shapes) if (shape.test(text)) leaks.push(`${path} matches ${shape}`);
  }
  return { files, bytes, tokens: tokens.size, leaks };
}

/** Searches, says what was searched, and returns the number of secrets that were found. */
export async function reportSecrets(): Promise<number> {
  const folder = process.env[variable];
  if (folder === undefined) return 0;
  const { files, bytes, tokens, leaks } = await searchEvidence(folder);
  await rm(folder, { recursive: true, force: true });
  if (files === 0) return 0;
  const size = `${files} files (${(bytes / 1e6).toFixed(1)} MB) of the servers`;
  const wanted = `${tokens} tokens of the tests and for all that looks like one`;
  console.log(`SECRETS: searched ${size} for ${wanted}: ${leaks.length} found`);
  for (const leak of leaks) console.log(`  ${leak}`);
  return leaks.length;
}
