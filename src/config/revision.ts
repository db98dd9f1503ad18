/** What a template is made of, as a short text that changes with any of it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Source } from "./document.ts";
import type { Entry } from "./read-values.ts";
import type { SecretSource, TemplateSpec } from "./template-spec.ts";

/** Long enough that two revisions of a template never have the same. */
const digits = 12;

type Unrevised = Omit<TemplateSpec, "revision">;

/**
 * A hash of what makes the clusters: their driver, what is pinned, and the content of every file and
 * Secret behind a reference. What only concerns lending (cost, limits) does not replace clusters. Of
 * secrets, only hashes are ever in it.
 */
export function revisionOf(
  source: Source,
  { how, pinned, credentials }: Unrevised,
  fields: ReadonlyMap<string, Entry>,
): string {
  const { files, variables, secrets } = referencesOf({ how, credentials });
  const secretFiles = new Set(filesOf(credentials));
  const contents = files.map((path) => {
    const hash = source.programs === undefined ? "unknown" : hashOfFile(path);
    // A program that is missing has a warning of its own; a manifest is an error.
    if (hash === undefined && secretFiles.has(path)) warnOfMissing(source, fields, path);
    return hash ?? "missing";
  });
  if (source.programs !== undefined) {
    for (const name of variables) {
      if (process.env[name] === undefined) warnOfUnset(source, fields, name);
    }
  }
  const values = variables.map((name) => hashOf(process.env[name] ?? ""));
  const inSecrets = secrets.map((each) => source.programs?.hashOfSecret?.(each) ?? "");
  // Without changed Secrets it is what it was before anybody looked into them.
  const changed = inSecrets.some((hash) => hash !== "") ? [inSecrets] : [];
  const parts = [how, pinned, credentials, contents, values, ...changed];
  return hashOf(canonical(parts)).slice(0, digits);
}

export interface References {
  readonly files: readonly string[];
  readonly variables: readonly string[];
  readonly secrets: readonly SecretSource[];
}

/** Everything outside of the file that decides how the clusters are made. */
export function referencesOf({
  how,
  credentials,
}: Pick<TemplateSpec, "how" | "credentials">): References {
  const sources = Object.values(credentials);
  const files = filesOf(credentials);
  if (how.driver === "command") {
    // Only what is a path: a name is found in PATH, and its content is the machine's.
    const paths = how.command.filter((word) => word.includes("/"));
    files.push(...paths.map((word) => resolve(how.folder, word)));
  }
  if ("manifest" in how) files.push(how.manifest);
  const own = sources.flatMap((each) => (each.from === "env" ? [each.variable] : []));
  const mapped = how.driver === "command" ? Object.values(how.env) : [];
  const variables = mapped.flatMap((from) => (typeof from === "string" ? [] : [from.env]));
  const secrets = sources.flatMap((each) => (each.from === "secret" ? [each] : []));
  return { files, variables: [...own, ...variables], secrets };
}

function filesOf(credentials: TemplateSpec["credentials"]): string[] {
  return Object.values(credentials).flatMap((each) => (each.from === "file" ? [each.path] : []));
}

/** Undefined if the file cannot be read. */
export function hashOfFile(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The same text for equal values, in whatever order their keys are. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function warnOfUnset(source: Source, fields: ReadonlyMap<string, Entry>, name: string): void {
  const at = fields.get("credentials") ?? fields.get("env");
  if (at === undefined) return;
  const hint = "set it where the provisioner runs; no cluster is made without it";
  source.warn(at.value, `the variable ${name} is not set here`, hint);
}

/** Only warns: the provisioner may run on another machine, which has it. */
function warnOfMissing(source: Source, fields: ReadonlyMap<string, Entry>, path: string): void {
  const at = fields.get("credentials");
  if (at === undefined || path === "") return;
  const hint = "check the path, which is relative to this file; no cluster is made without it";
  source.warn(at.value, `"${path}" cannot be read here`, hint);
}
