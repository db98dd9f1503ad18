import { appendFile } from "node:fs/promises";

type Env = Readonly<Record<string, string | undefined>>;

/** Sets step outputs for later steps of a GitHub Actions job. Does nothing outside of GitHub. */
export async function setGithubOutputs(
  outputs: Readonly<Record<string, string>>,
  env: Env = process.env,
): Promise<void> {
  const lines = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`);
  await appendTo(env["GITHUB_OUTPUT"], lines.join(""));
}

/** Adds a line to the summary page of the GitHub Actions run. Does nothing outside of GitHub. */
export async function addGithubSummary(markdown: string, env: Env = process.env): Promise<void> {
  await appendTo(env["GITHUB_STEP_SUMMARY"], `${markdown}\n`);
}

async function appendTo(path: string | undefined, text: string): Promise<void> {
  if (path !== undefined && path !== "") await appendFile(path, text);
}
