import { appendFile } from "node:fs/promises";

type Env = Readonly<Record<string, string | undefined>>;

/** Tells later steps of a GitHub job, through the file that it names. Elsewhere it does nothing. */
export async function setGithubOutputs(
  outputs: Readonly<Record<string, string>>,
  env: Env = process.env,
): Promise<void> {
  const lines = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`);
  await appendTo(env["GITHUB_OUTPUT"], lines.join(""));
}

/** A line for people, on the page of the run. */
export async function addGithubSummary(markdown: string, env: Env = process.env): Promise<void> {
  await appendTo(env["GITHUB_STEP_SUMMARY"], `${markdown}\n`);
}

async function appendTo(path: string | undefined, text: string): Promise<void> {
  if (path !== undefined && path !== "") await appendFile(path, text);
}
