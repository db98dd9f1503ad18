import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Retry } from "../driver.ts";
import { noMask } from "../secret-mask.ts";
import { remainingOf } from "./verify.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-verify-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function verify(script: string, credentials = {}): Promise<readonly string[]> {
  const program = join(folder, "left.sh");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const settings = { command: [program], folder, credentials };
  return remainingOf(settings, { name: "c1", instance: "i1", handle: {} }, noMask);
}

test.each([
  ["an empty list", "echo '[]'", []],
  ["the last line of more", 'echo looking; echo \'["vpc-1", "eip-2"]\'', ["vpc-1", "eip-2"]],
  [
    "what it was asked about",
    'read -r asked; echo "[\\"$(echo $asked | tr -d \'"\')\\"]"',
    ["{name:c1,instance:i1}"],
  ],
])("remainingOf() takes %s", async (_, script, want) => {
  expect(await verify(script)).toEqual(want);
});

test.each([
  ["no output", "true", "left.sh printed no JSON list of texts in its last line"],
  ["another form", "echo '{\"left\":[]}'", "left.sh printed no JSON list of texts"],
  ["another exit code", "echo '[]'; echo denied >&2; exit 2", "left.sh exited with 2: denied"],
])("remainingOf() does not take %s for an answer", async (_, script, want) => {
  const call = verify(script);
  await expect(call).rejects.toThrow(Retry);
  await expect(call).rejects.toThrow(want);
});

test("remainingOf() passes credentials in a file, not in variables", async () => {
  const script =
    'env | grep -c the-secret >&2; echo "[\\"$(cut -c 2-16 "$BERTH_CREDENTIALS" | tr -d \'\\"\')\\"]"';
  expect(await verify(script, { key: "the-secret" })).toEqual(["key:the-secr"]);
});
