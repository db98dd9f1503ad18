/** How hubs are read, and how a template chooses among them. */
import { isMap, isSeq } from "yaml";
import { type HubSpec, hubStates } from "../core/model/hub.ts";
import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, quote, readText, refuseValue, type Spot } from "./document.ts";
import { templateLimits } from "./limits.ts";
import { readCluster } from "./read-mirror.ts";
import {
  type Entry,
  listOf,
  optionalNumber,
  readKnown,
  readNamed,
  scalarOf,
} from "./read-values.ts";
import { Hub } from "./schema-hubs.ts";
import { kubeLabelKeyKind, kubeLabelValueKind, nameKind } from "./text-kinds.ts";

/** A hub with what only the provisioner needs. */
export interface HubPlace extends HubSpec {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Labels of clusters to show that Berth has not made. Absent: none are shown. */
  readonly foreign?: Readonly<Record<string, string>>;
}

const hubs = {
  title: "map of hubs",
  hint: "write { hub-east: { kubeconfig: hub-east.kubeconfig } }",
  names: nameKind,
  max: templateLimits.hubsMax,
  of: "hubs",
};
const expected = { title: "hub", hint: "write { kubeconfig: hub-east.kubeconfig, limit: 900 }" };
const keys = Object.keys(Hub.properties);

export function readHubs(document: ConfigDocument, field: Entry | undefined): readonly HubPlace[] {
  if (field === undefined) return [];
  return readNamed(document, field, hubs).flatMap(({ key: name, value }) => {
    const fields = readKnown(document, value, keys, expected);
    if (fields === undefined) return [];
    const limit = optionalNumber(document, fields.get("limit"), {
      ...{ min: 0, max: templateLimits.clustersMax, whole: true },
    });
    const state = readState(document, fields.get("state"));
    const foreign = fields.get("foreign");
    return [
      {
        name,
        ...readCluster(document, fields),
        labels: readLabels(document, fields.get("labels")),
        ...(limit === undefined ? undefined : { limit }),
        ...(state === undefined || state === "active" ? undefined : { state }),
        ...(foreign === undefined ? undefined : { foreign: readLabels(document, foreign) }),
      },
    ];
  });
}

/** What the core knows of a hub. */
export function specOfHub({ name, labels, limit, state }: HubPlace): HubSpec {
  return {
    ...{ name, labels },
    ...(limit === undefined ? undefined : { limit }),
    ...(state === undefined ? undefined : { state }),
  };
}

function readState({ source }: ConfigDocument, field: Entry | undefined) {
  if (field === undefined) return undefined;
  const value = scalarOf(field.value);
  const state = hubStates.find((each) => each === value);
  if (state === undefined) {
    const hint = "write active, cordoned or draining";
    refuseValue(source, field.value, { title: "state", hint });
  }
  return state;
}

const labels = {
  title: "map of labels",
  hint: "write { region: us-east-1 }",
  names: kubeLabelKeyKind,
  max: 32,
  of: "labels",
};

function readLabels(
  document: ConfigDocument,
  field: Entry | undefined,
): Readonly<Record<string, string>> {
  if (field === undefined) return {};
  const found = readNamed(document, field, labels).flatMap(({ key, value }) => {
    const text = readText(document.source, value, kubeLabelValueKind);
    return text === undefined ? [] : [[key, text] as const];
  });
  return Object.fromEntries(found);
}

/** The names of the hubs that a template may use: a list of names, or labels. */
export function chooseHubs(
  document: ConfigDocument,
  field: Entry,
  known: readonly HubPlace[],
): readonly string[] {
  const { source } = document;
  if (isSeq(field.value.node)) return readNames(document, field.value, known);
  if (!isMap(field.value.node)) {
    const hint = "write [hub-east], or labels such as { region: us-east-1 }";
    refuseValue(source, field.value, { title: "list of hubs", hint });
    return [];
  }
  const wanted = Object.entries(readLabels(document, field));
  const chosen = known.filter((hub) => wanted.every(([key, text]) => hub.labels[key] === text));
  if (chosen.length === 0) {
    const state = known.length === 0 ? "there are no hubs" : "no hub has these labels";
    source.refuse(field.value, state, "add a hub below hubs:, or correct the labels");
  }
  return chosen.map(({ name }) => name);
}

function readNames(
  document: ConfigDocument,
  spot: Spot,
  known: readonly HubPlace[],
): readonly string[] {
  const names = new Set<string>();
  for (const item of listOf(document, spot, "list of hubs")) {
    const name = readText(document.source, item, nameKind);
    if (name === undefined) continue;
    if (!known.some((hub) => hub.name === name)) {
      const meant = nearest(
        name,
        known.map((hub) => hub.name),
      );
      const hint = meant === undefined ? "add it below hubs:" : `did you mean ${meant}?`;
      document.source.refuse(item, `there is no hub ${quote(name)}`, hint);
    }
    names.add(name);
  }
  if (names.size === 0) document.source.refuse(spot, "it names no hub", "write [hub-east]");
  return [...names];
}
