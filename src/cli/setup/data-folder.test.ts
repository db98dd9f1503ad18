import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { restoreFrom } from "../../server/migrate/journal-places.ts";
import { folderFailure } from "./data-folder.ts";

test.each([
  ["missing", undefined, 66],
  ["no backup", "hello\n", 65],
  ["empty", "", 65],
])("folderFailure() of a backup that is %s has its own exit code", async (_, content, exitCode) => {
  const folder = mkdtempSync(join(tmpdir(), "berth-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "backup");
  if (content !== undefined) writeFileSync(file, content);
  const error = await restoreFrom(file, join(folder, "data")).catch((cause: unknown) => cause);
  expect(folderFailure(error, "the journal")).toMatchObject({
    ...{ name: "CliError", exitCode },
    message: expect.stringContaining(file),
  });
});
