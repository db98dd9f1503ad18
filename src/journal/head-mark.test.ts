import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HeadMark, headMarkPath, readHeadMark } from "./head-mark.ts";

test("a mark is believed only as it was written", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-mark-"));
  try {
    const mark = HeadMark.open(folder);
    mark.write({ head: 41, checksum: 7 });
    mark.close();
    expect(readHeadMark(folder)).toEqual({ head: 41, checksum: 7 });
    const text = readFileSync(headMarkPath(folder), "latin1");
    // A torn write: the form is right, the content is not.
    writeFileSync(headMarkPath(folder), text.replace("event 41", "event 91"));
    expect(readHeadMark(folder)).toBeUndefined();
    writeFileSync(headMarkPath(folder), text.slice(0, 20));
    expect(readHeadMark(folder)).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
