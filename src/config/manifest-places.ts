/** The places for values in a manifest: each must be one that the template has a value for. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { LineCounter, parseAllDocuments, visit } from "yaml";
import { nearest } from "../core/model/nearest.ts";
import { placeholdersIn } from "../core/model/placeholders.ts";
import type { ManifestObject, TemplateSpec } from "./template-spec.ts";

export type Refuse = (state: string, hint: string) => void;

interface Manifest {
  readonly manifest: string;
  readonly objects: readonly ManifestObject[];
}

type Values = Pick<TemplateSpec, "parameters" | "pinned" | "credentials" | "ownCredentials">;

/** Refuses all that have no value, in the order of the manifest. */
export function checkPlaces(
  { manifest, objects }: Manifest,
  { parameters, pinned, credentials, ownCredentials }: Values,
  refuse: Refuse,
): void {
  const known = new Set([
    ...["name", "instance", "namespace"],
    ...[...Object.keys(parameters), ...Object.keys(pinned)].map((key) => `parameters.${key}`),
    ...Object.keys(credentials).map((key) => `credentials.${key}`),
  ]);
  const used = new Set(objects.flatMap((each) => placeholdersIn(each)));
  // What the credentials of a space contain is known when it has stored them.
  const isOwn = (place: string) => ownCredentials !== null && place.startsWith("credentials.");
  const unknown = [...used].filter((place) => !known.has(place) && !isOwn(place));
  if (unknown.length === 0) return;
  const lines = linesOfPlaces(manifest);
  const lineOf = (place: string) => lines.get(place) ?? 0;
  // A name that the manifest uses already is not the one that was meant.
  const free = [...known].filter((place) => !used.has(place));
  for (const place of unknown.sort((a, b) => lineOf(a) - lineOf(b))) {
    const line = lines.has(place) ? ` in line ${lineOf(place)} of ${basename(manifest)}` : "";
    refuse(`the template has nothing for \${${place}}${line}`, hintFor(place, free));
  }
}

function hintFor(place: string, free: readonly string[]): string {
  const [, kind, name = ""] = /^(parameters|credentials)\.(.+)$/.exec(place) ?? [];
  if (kind === undefined) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these are places, as they are written.
    const others = "${name}, ${instance}, ${namespace}, ${parameters.NAME} or ${credentials.NAME}";
    return `write ${others}, or $\${${place}} for the text itself`;
  }
  const where = kind === "parameters" ? "parameters or pinned" : "credentials";
  const names = free.flatMap((each) =>
    each.startsWith(`${kind}.`) ? [each.slice(kind.length + 1)] : [],
  );
  const meant = nearest(name, names);
  const other = meant === undefined ? "" : `, or write \${${kind}.${meant}}`;
  return `add ${name} to ${where} of the template${other}`;
}

/** Where each place is used first, from 1. Read again, because only a file that is wrong needs it. */
function linesOfPlaces(manifest: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let text: string;
  try {
    text = readFileSync(manifest, "utf8");
  } catch {
    return found; // It was there a moment ago: the message does without lines.
  }
  const lines = new LineCounter();
  for (const document of parseAllDocuments(text, { lineCounter: lines })) {
    visit(document, {
      Scalar: (_, { value, range }) => {
        if (typeof value !== "string" || !range) return;
        const [start, end] = range;
        for (const place of placeholdersIn(value)) {
          const within = Math.max(0, text.slice(start, end).indexOf(`\${${place}}`));
          if (!found.has(place)) found.set(place, lines.linePos(start + within).line);
        }
      },
    });
  }
  return found;
}
