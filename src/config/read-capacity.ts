/** Reads what belongs to pools whose resources are lent by amount. */

import { isScalar, isSeq } from "yaml";
import type { PartKind } from "../core/model/policy.ts";
import { parseRatio, ratioMax } from "../core/shared/placement/overcommit.ts";
import type { Attribute, CapacitySpec } from "../core/shared/placement/shareable.ts";
import type { Taint } from "../core/shared/placement/taint.ts";
import { type ConfigDocument, formatNumber, readText, refuseValue, type Spot } from "./document.ts";
import { amountMax } from "./limits.ts";
import {
  checkKeys,
  type Entry,
  knownFields,
  listOf,
  readKnown,
  readMap,
  scalarOf,
} from "./read-values.ts";
import { dimensionKind, nameKind } from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;
export type RoomDraft = Omit<CapacitySpec, "index">;

const kindsExpected = {
  title: "map of kinds of parts",
  hint: "write { networks: { members: … } }",
};
const membersExpected = {
  title: "map of parts",
  hint: "write { ci-vlan-1: { gateway: 10.0.0.1 } }",
};
const attributesExpected = { title: "map of attributes", hint: "write { gateway: 10.0.0.1 }" };

/** By kind, what the members of a pool have that is lent whole. */
export function readParts(document: ConfigDocument, field: Entry): Record<string, PartKind> {
  const entries = readMap(document, field.value, kindsExpected) ?? [];
  checkKeys(document, entries, dimensionKind);
  const kinds: Record<string, PartKind> = {};
  for (const { key, value } of entries) {
    const fields = knownFields(document, readMap(document, value, kindsExpected) ?? [], [
      "apart",
      "members",
    ]);
    const apart = fields.get("apart");
    const members: Record<string, Record<string, Attribute>> = {};
    const listed = fields.get("members");
    const parts =
      listed === undefined ? [] : (readMap(document, listed.value, membersExpected) ?? []);
    checkKeys(document, parts, nameKind);
    for (const part of parts) members[part.key] = readAttributes(document, part.value);
    const text = apart === undefined ? undefined : readText(document.source, apart.value, nameKind);
    kinds[key] = { ...(text === undefined ? undefined : { apart: text }), members };
  }
  return kinds;
}

function readAttributes(document: ConfigDocument, spot: Spot): Record<string, Attribute> {
  if (isScalar(spot.node) && spot.node.value === null) return {};
  const attributes: Record<string, Attribute> = {};
  for (const { key, value } of readMap(document, spot, attributesExpected) ?? []) {
    const scalar = scalarOf(value);
    if (isSeq(value.node)) {
      attributes[key] = listOf(document, value, "list of texts").map((item) =>
        String(scalarOf(item)),
      );
    } else if (scalar !== undefined && scalar !== null) {
      attributes[key] = scalar;
    } else {
      const hint = "write text, a number, true or false, or a list of texts";
      refuseValue(document.source, value, { title: "value of an attribute", hint });
    }
  }
  return attributes;
}

/** What makes a member one that is lent by amount; undefined if nothing does. */
export function readRoom(document: ConfigDocument, fields: Fields): RoomDraft | undefined {
  const capacity = fields.get("capacity");
  if (capacity === undefined) {
    for (const key of ["overcommit", "taints", "excluded", "parts"]) {
      const stray = fields.get(key);
      if (stray === undefined) continue;
      document.source.refuse(stray.at, "it is only for a member with a capacity", "add capacity");
    }
    return undefined;
  }
  const taints = readTaints(document, fields.get("taints"));
  const overcommit = readRatios(document, fields.get("overcommit"));
  const parts = readNames(document, fields.get("parts"));
  return {
    capacity: readAmounts(document, capacity.value),
    ...(overcommit === undefined ? undefined : { overcommit }),
    ...(taints.length === 0 ? undefined : { taints }),
    ...(readFlag(document, fields.get("excluded")) ? { excluded: true as const } : undefined),
    ...(parts === undefined ? undefined : { parts }),
  };
}

const amountsExpected = { title: "map of amounts", hint: "write { vcpus: 120, memory: 1600 }" };
const amountExpected = {
  title: "whole number",
  hint: `write 0 to ${formatNumber(amountMax)}, without a unit`,
};

function readAmounts(document: ConfigDocument, spot: Spot): Record<string, number> {
  const entries = readMap(document, spot, amountsExpected) ?? [];
  checkKeys(document, entries, dimensionKind);
  const amounts: Record<string, number> = {};
  for (const { key, value } of entries) {
    const amount = scalarOf(value);
    const good = typeof amount === "number" && Number.isInteger(amount);
    if (good && amount >= 0 && amount <= amountMax) amounts[key] = amount;
    else refuseValue(document.source, value, amountExpected);
  }
  return amounts;
}

const ratiosExpected = { title: "map of ratios", hint: "write { vcpus: 2.5 }" };
const ratioExpected = { title: "ratio", hint: `write a decimal above 0, at most ${ratioMax}` };

/** Kept as written: a number that YAML has read is no longer the decimal that was meant. */
function readRatios(document: ConfigDocument, field: Entry | undefined) {
  if (field === undefined) return undefined;
  const ratios: Record<string, string> = {};
  for (const { key, value } of readMap(document, field.value, ratiosExpected) ?? []) {
    const { node } = value;
    const text = isScalar(node) ? String(node.source ?? node.value) : "";
    if (parseRatio(text) === undefined) refuseValue(document.source, value, ratioExpected);
    else ratios[key] = text;
  }
  return ratios;
}

const taintExpected = {
  title: "taint",
  hint: "write { key: dedicated, value: gpu, effect: NoSchedule }",
};
const effects = ["NoSchedule", "PreferNoSchedule"] as const;

function readTaints(document: ConfigDocument, field: Entry | undefined): Taint[] {
  return listOf(document, field?.value, "list of taints").flatMap((spot) => {
    const fields = readKnown(document, spot, ["key", "value", "effect"], taintExpected);
    if (fields === undefined) return [];
    const text = (name: string) => {
      const found = fields.get(name);
      return found === undefined ? undefined : scalarOf(found.value);
    };
    const [key, value, written] = [text("key"), text("value"), text("effect")];
    const effect = effects.find((known) => known === written);
    if (key === undefined || effect === undefined) {
      refuseValue(document.source, spot, taintExpected);
      return [];
    }
    return [{ key: String(key), ...(value === undefined ? {} : { value: String(value) }), effect }];
  });
}

function readFlag(document: ConfigDocument, field: Entry | undefined): boolean {
  if (field === undefined) return false;
  const value = scalarOf(field.value);
  if (typeof value === "boolean") return value;
  refuseValue(document.source, field.value, { title: "true or false", hint: "write true" });
  return false;
}

const namesExpected = { title: "map of names", hint: "write { networks: [ci-vlan-1302] }" };

function readNames(document: ConfigDocument, field: Entry | undefined) {
  if (field === undefined) return undefined;
  const names: Record<string, string[]> = {};
  for (const { key, value } of readMap(document, field.value, namesExpected) ?? []) {
    names[key] = listOf(document, value, "list of names").flatMap(
      (spot) => readText(document.source, spot, nameKind) ?? [],
    );
  }
  return names;
}
