import { expect, test } from "vitest";
import type { RequestId } from "../model/ids.ts";
import { type KeyedParts, keysOf, oddKeys } from "./frozen-keys.ts";

const lease = (name: string, key: string) => ({ id: name as RequestId, ask: { key } });
const none = { older: [], recent: [], startedAt: 0 } as never;
const parts = (...leases: KeyedParts["leases"]): KeyedParts => {
  return { ended: { keyed: none, keyless: none }, leases, requests: [] };
};

test.each<[string, Record<string, string>, number]>([
  ["that follow from the rest", { k: "old", other: "b" }, 0],
  ["of a newer request that has ended", { k: "new", other: "b" }, 1],
  ["that name no request any more", { other: "b" }, 1],
])("keysOf() restores keys %s", (_, found, oddCount) => {
  const keys = new Map(Object.entries(found) as [string, RequestId][]);
  const known = parts(lease("old", "k"), lease("b", "other"));
  const odd = oddKeys(keys, known);
  expect(odd).toHaveLength(oddCount);
  expect(keysOf(known, odd)).toEqual(keys);
});
