import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { at, left } from "../../journal/journal.suite.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { backUp, restoreFrom } from "./journal-places.ts";

test("restoreFrom() overwrites no later events, and says what to do instead", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [data, file] = [join(folder, "data"), join(folder, "backup")];
  const append = async (head: number) => {
    const journal = SqliteJournal.open(data);
    await journal.append(head, at(head), [left(head)]);
    await journal.close();
  };
  await append(0);
  await backUp(data, file);
  await append(1);
  await expect(restoreFrom(file, data)).rejects.toMatchObject({
    message: expect.stringContaining("it has later events"),
    hint: expect.stringMatching(/move the data folder away first.*\?schema=NAME/),
  });
  expect(await restoreFrom(file, join(folder, "empty"))).toMatchObject({ lastEvent: 1 });
});
