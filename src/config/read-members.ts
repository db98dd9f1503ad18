import { isMap, isNode, isScalar, isSeq, type YAMLSeq } from "yaml";
import type { ConfigDocument } from "./document.ts";
import { labelsPerResourceMax, nameLengthMax, resourcesMax } from "./limits.ts";
import { formatNumber } from "./problem.ts";
import { type RoomDraft, readRoom } from "./read-capacity.ts";
import { checkKeys, type Entry, knownFields, readMap, readNamed } from "./read-map.ts";
import { Member } from "./schema.ts";
import type { Place, Spot } from "./source.ts";
import { labelKeyKind, labelValueKind, nameKind } from "./text-kinds.ts";
import { readText, readWhole } from "./yaml-scalars.ts";

export interface MemberDraft {
  readonly name: string;
  readonly at: Place;
  readonly labels: Readonly<Record<string, string>>;
  readonly room?: RoomDraft;
}

/** Shared, because most of a million resources have none. */
export const noLabels: Readonly<Record<string, string>> = Object.freeze({});

/** How many resources the file may still have, and whether it was told that there is no more. */
export interface Room {
  left: number;
  told: boolean;
}

/** Judged as a number, long before anything is made of it; 0 if it cannot be used. */
export function readCount(document: ConfigDocument, spot: Spot, pool: string, room: Room): number {
  const { source } = document;
  const value = readWhole(source, spot, { min: 0, max: resourcesMax });
  if (value === undefined) return 0;
  if (value > 0 && `${pool}-${value}`.length > nameLengthMax) {
    const state = `the last name it makes is longer than ${nameLengthMax} characters`;
    source.refuse(spot, state, "shorten the name of the pool");
    return 0;
  }
  return take(document, spot, value, room) ? value : 0;
}

/** False, with the reason in the source, if the file would have too many. */
export function take({ source }: ConfigDocument, spot: Spot, count: number, room: Room): boolean {
  if (count <= room.left) {
    room.left -= count;
    return true;
  }
  const total = formatNumber(resourcesMax - room.left + count);
  const state = `with it the file has ${total} resources, and the limit is`;
  if (!room.told) {
    const hint = `write at most ${formatNumber(room.left)}`;
    source.refuse(spot, `${state} ${formatNumber(resourcesMax)}`, hint);
  }
  room.told = true;
  return false;
}

const membersExpected = { title: "list of names", hint: "write [aws-1, aws-2], or a map" };

/** A list of names, or a map from names to what is known about each. */
export function readMembers(
  document: ConfigDocument,
  spot: Spot,
  room: Room,
): readonly MemberDraft[] {
  const { node } = spot;
  if (isSeq(node) || isMap(node)) {
    if (!take(document, spot, node.items.length, room)) return [];
  }
  if (isSeq(node)) return readList(document, spot, node);
  const entries = readMap(document, spot, membersExpected) ?? [];
  checkKeys(document, entries, nameKind);
  return entries.map(({ key, at, value }) => ({
    name: key,
    at,
    ...readMember(document, value),
  }));
}

function readList(document: ConfigDocument, spot: Spot, list: YAMLSeq): MemberDraft[] {
  if (!document.mayRead(list, spot)) return [];
  const members: MemberDraft[] = [];
  for (const [index, item] of list.items.entries()) {
    const at = document.spot([...spot.path, index], isNode(item) ? item : null, spot.offset);
    const name = readText(document.source, at, nameKind);
    if (name !== undefined) members.push({ name, at, labels: noLabels });
  }
  return members;
}

const memberExpected = { title: "resource", hint: "write { labels: { region: us-east-1 } }" };
const labelEntries = {
  title: "map of labels",
  hint: "write { region: us-east-1 }",
  names: labelKeyKind,
  max: labelsPerResourceMax,
  of: "labels",
};
const memberKeys = Object.keys(Member.properties);

/** A name with nothing after it has no labels. */
function readMember(document: ConfigDocument, spot: Spot): Pick<MemberDraft, "labels" | "room"> {
  if (isScalar(spot.node) && spot.node.value === null) return { labels: noLabels };
  const entries = readMap(document, spot, memberExpected) ?? [];
  const fields = knownFields(document, entries, memberKeys);
  const labels = fields.get("labels");
  const room = readRoom(document, fields);
  return {
    labels: labels === undefined ? noLabels : readLabels(document, labels),
    ...(room === undefined ? undefined : { room }),
  };
}

function readLabels(document: ConfigDocument, field: Entry): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { key, value } of readNamed(document, field, labelEntries)) {
    const text = readText(document.source, value, labelValueKind);
    if (text !== undefined) labels[key] = text;
  }
  return labels;
}
