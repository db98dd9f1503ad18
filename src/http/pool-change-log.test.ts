import { describe, expect, test } from "vitest";
import { PoolChangeLog } from "./pool-change-log.ts";

const aws = { name: "aws", free: 2, states: { free: 2 }, usage: [{ used: 1 }] };
const gcp = { name: "gcp", free: 1, states: { free: 1 } };

function logOf(...versions: (typeof gcp)[][]) {
  const log = new PoolChangeLog();
  const cursors = versions.map((pools) => {
    log.update(pools);
    return log.since(undefined).cursor;
  });
  return { log, cursors };
}

describe("PoolChangeLog", () => {
  test("returns everything to a reader without a cursor", () => {
    const { log } = logOf([aws, gcp]);
    expect(log.since(undefined)).toMatchObject({ whole: true, pools: [aws, gcp] });
  });

  test("returns nothing if nothing has changed", () => {
    const { log, cursors } = logOf([aws, gcp], structuredClone([aws, gcp]));
    expect(log.since(cursors[0])).toEqual({ cursor: cursors[0], whole: false, pools: [] });
  });

  test("returns the changed fields of the changed pools, once", () => {
    const { log, cursors } = logOf([aws, gcp], [aws, { ...gcp, free: 0, states: { free: 1 } }]);
    expect(log.since(cursors[0])).toMatchObject({
      whole: false,
      pools: [{ name: "gcp", free: 0 }],
    });
    expect(log.since(cursors[0]).pools[0]).not.toHaveProperty("states");
    expect(log.since(cursors[1])).toMatchObject({ whole: false, pools: [] });
  });

  test("returns a field that has changed twice with its last value", () => {
    const { log, cursors } = logOf([gcp], [{ ...gcp, free: 0 }], [{ ...gcp, free: 5 }]);
    for (const cursor of cursors.slice(0, 2)) {
      expect(log.since(cursor).pools).toEqual([{ name: "gcp", free: 5 }]);
    }
  });

  test("returns a new pool whole", () => {
    const { log, cursors } = logOf([aws], [aws, gcp]);
    expect(log.since(cursors[0])).toMatchObject({ whole: false, pools: [gcp] });
  });

  test.each([
    ["a pool was removed", [[aws, gcp], [gcp]]],
    ["a field was removed", [[aws], [{ name: "aws", free: 2, states: { free: 2 } }]]],
  ])("returns everything after %s", (_, versions) => {
    const { log, cursors } = logOf(...versions);
    expect(log.since(cursors[0])).toMatchObject({ whole: true, pools: versions[1] });
    expect(log.since(cursors[1])).toMatchObject({ whole: false, pools: [] });
  });

  test.each(["", "x", "1", ".1", "other.1"])("returns everything for the cursor %j", (cursor) => {
    const { log } = logOf([aws]);
    expect(log.since(cursor)).toMatchObject({ whole: true, pools: [aws] });
  });

  test("returns everything for a cursor of another process, or of the future", () => {
    const { log, cursors } = logOf([aws]);
    const [other = ""] = logOf([aws]).cursors;
    expect(log.since(other).whole).toBe(true);
    expect(log.since(cursors[0]?.replace(/\.1$/, ".2")).whole).toBe(true);
    expect(log.since(cursors[0]).whole).toBe(false);
  });

  test.each([
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: undefined }],
    [[1], { 0: 1 }],
    [{ a: null }, { a: {} }],
    [
      [1, 2],
      [2, 1],
    ],
  ])("notices that %j became %j", (before, after) => {
    const log = new PoolChangeLog();
    log.update([{ name: "aws", value: before }]);
    const { cursor } = log.since(undefined);
    log.update([{ name: "aws", value: after }]);
    expect(log.since(cursor).pools).toEqual([{ name: "aws", value: after }]);
  });
});
