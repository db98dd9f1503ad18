/** The objects of a template, with the values of one cluster in them. */
import { fillPlaceholders, type JsonValue, type Scalar } from "../../core/model/placeholders.ts";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { type ClusterSpec, Hopeless } from "../driver.ts";

/** An object as the template has it: with places for values. */
export type TemplateObject = { readonly [key: string]: JsonValue };

/** An object that can be sent to a hub. */
export interface RenderedObject extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface RenderValues {
  readonly namespace: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Inside of a longer text, such as an install-config, other characters could add to it. */
const harmless = /^[A-Za-z0-9._:/@+-]*$/;

/** Rejects, as hopeless, values of parameters that could change what a text around them means. */
export function renderObjects(
  objects: readonly TemplateObject[],
  spec: ClusterSpec,
  { namespace, credentials }: RenderValues,
): readonly RenderedObject[] {
  const lookUp = (place: string): Scalar => {
    const { kind, key } = placeOf(place);
    if (kind === "name") return spec.name;
    if (kind === "instance") return spec.instance;
    if (kind === "namespace") return namespace;
    const value = kind === "parameters" ? spec.parameters[key] : credentials[key];
    if (value !== undefined) return value;
    const what = kind === "parameters" ? "parameter" : "credential";
    throw new Hopeless(`Cannot create the cluster: its template needs the ${what} ${key}`);
  };
  const inText = (place: string, value: Scalar): string => {
    const { kind, key } = placeOf(place);
    if (kind !== "parameters" || harmless.test(String(value))) return String(value);
    const state = "its value has characters that are not allowed inside of a text";
    throw new Hopeless(`Cannot create the cluster: the parameter ${key} cannot be used: ${state}`);
  };
  // The shape was checked when the configuration was read.
  return objects.map((each) => fillPlaceholders(each, lookUp, inText) as unknown as RenderedObject);
}

function placeOf(place: string): { readonly kind: string; readonly key: string } {
  const dot = place.indexOf(".");
  if (dot < 0) return { kind: place, key: "" };
  return { kind: place.slice(0, dot), key: place.slice(dot + 1) };
}
