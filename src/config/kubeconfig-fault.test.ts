import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatWarning } from "./document.ts";
import { loadConfig } from "./load.ts";

const whole = "apiVersion: v1\nkind: Config\ncurrent-context: east\n";
const secret = "users: [{ user: { token: hunter2 } }]\n";

/** The warnings of a template with this kubeconfig. */
async function warningsFor(content: string, more = "", prepare?: (path: string) => void) {
  const folder = await mkdtemp(join(tmpdir(), "berth-kubeconfig-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [file, path] = [join(folder, "berth.yaml"), join(folder, "hub.kubeconfig")];
  await writeFile(path, content);
  prepare?.(path);
  const template = `{ driver: namespace, kubeconfig: hub.kubeconfig${more} }`;
  await writeFile(file, `templates: { t: ${template} }\npools: { p: { template: t } }\n`);
  const loaded = await loadConfig(file);
  return loaded.ok ? loaded.warnings.map(formatWarning) : ["bad"];
}

test.each([
  ["is empty", " \n", '" is empty (write it again'],
  ["is not YAML", `${secret}a: [`, '" is not YAML (write it again'],
  ["has no current context", secret, '" has no current context (add context:'],
  ["has an empty one", 'current-context: ""\n', '" has no current context'],
])("a kubeconfig that %s is warned of", async (_, content, want) => {
  const warnings = await warningsFor(content);
  expect(warnings).toEqual([expect.stringContaining(`hub.kubeconfig${want}`)]);
  expect(warnings.join()).not.toContain("hunter2");
});

test("a kubeconfig with a current context, or one that the template names, is good", async () => {
  expect(await warningsFor(whole)).toEqual([]);
  expect(await warningsFor(JSON.stringify({ "current-context": "east" }))).toEqual([]);
  expect(await warningsFor(secret, ", context: east")).toEqual([]);
});

test("a pipe is left to who needs what is in it", async () => {
  const pipe = (path: string) => {
    execFileSync("rm", [path]);
    execFileSync("mkfifo", [path]);
  };
  expect(await warningsFor("", "", pipe)).toEqual([]);
});
