/** The architecture as a table: who may import whom. Any other import fails the build. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { describe, expect, test } from "vitest";

interface Layer {
  /**
   * Folders of `src`. A folder stands for its sub-folders too, unless it has a line of its own: then
   * those of its sub-folders that have one must be named.
   */
  readonly folders: readonly string[];
  /** Folders that only types may come from: what is erased before it runs. */
  readonly types?: readonly string[];
  /** Packages; `node:*` stands for all that Node brings. */
  readonly packages: readonly string[];
}

const layers: Readonly<Record<string, Layer>> = {
  // The words of the model; they name the types of what the other parts of the core work on.
  "core/model": {
    folders: [],
    types: ["core/explain", "core/gates", "core/queue", "core/shared"],
    packages: [],
  },
  "core/shared": { folders: ["core/model"], packages: [] },
  "core/queue": { folders: ["core/model", "core/shared"], packages: [] },
  "core/gates": { folders: ["core/model", "core/queue"], packages: [] },
  // Decides which clusters there are, from a snapshot of their pool.
  "core/clusters": { folders: ["core/gates", "core/model", "core/queue"], packages: [] },
  // The only folder that changes a state.
  "core/apply": {
    folders: ["core/clusters", "core/gates", "core/model", "core/queue", "core/shared"],
    packages: [],
  },
  "core/explain": {
    folders: ["core/clusters", "core/gates", "core/model", "core/queue", "core/shared"],
    packages: [],
  },
  "core/decide": {
    folders: [
      ...["core/apply", "core/clusters", "core/explain", "core/gates", "core/model", "core/queue"],
      "core/shared",
    ],
    packages: [],
  },
  journal: { folders: ["core"], packages: ["node:*"] },
  // The only folder that speaks to PostgreSQL.
  "journal/postgres": { folders: ["core", "journal"], packages: ["node:*", "pg", "pgpass"] },
  broker: { folders: ["core", "journal"], packages: ["node:*"] },
  // Who of several servers leads. Only the journal knows the database.
  replicas: { folders: ["broker", "core", "journal"], packages: ["node:*"] },
  // Secrets, sealed. Nothing of lending depends on it.
  vault: { folders: ["core", "journal"], packages: ["node:*"] },
  // What was collected about clusters that failed.
  evidence: { folders: ["journal", "vault"], packages: ["node:*"] },
  auth: { folders: ["api", "auth/issuers", "core"], packages: ["node:*"] },
  "auth/issuers": {
    folders: ["api", "auth", "core", "kubernetes"],
    packages: ["node:*", "jose"],
  },
  "auth/sign-in": {
    folders: ["api", "auth", "auth/issuers", "core"],
    packages: ["node:*", "openid-client"],
  },
  config: { folders: ["auth", "core"], packages: ["node:*", "yaml", "typebox"] },
  api: { folders: ["core"], packages: ["typebox"] },
  // Published for any runtime with fetch: it has no package, and nothing of Node's either.
  client: { folders: ["api", "core"], packages: [] },
  // Follow what is committed: they know the journal, and nothing of who writes it.
  "insight/follow": { folders: ["core", "journal"], packages: ["node:*"] },
  "insight/history": { folders: ["core", "insight/follow", "journal"], packages: ["node:*"] },
  "insight/audit": { folders: ["api", "core", "insight/follow", "journal"], packages: ["node:*"] },
  "insight/virtual-clock": { folders: ["core"], packages: [] },
  "insight/forecast": {
    folders: ["core", "insight/history", "insight/virtual-clock"],
    packages: [],
  },
  "insight/pacing": { folders: ["core", "insight/virtual-clock"], packages: [] },
  "insight/what-if": {
    folders: [
      ...["api", "broker", "config", "core", "insight/history", "insight/virtual-clock"],
      "journal",
    ],
    packages: ["node:*"],
  },
  insight: {
    folders: [
      ...["core", "insight/audit", "insight/follow", "insight/forecast", "insight/history"],
      ...["insight/what-if", "journal"],
    ],
    packages: ["node:*"],
  },
  http: {
    folders: [
      ...["api", "auth", "auth/sign-in", "broker", "core", "evidence", "insight"],
      ...["insight/audit", "insight/forecast", "insight/history", "insight/what-if", "journal"],
      "vault",
    ],
    packages: [
      ...["node:*", "fastify", "@fastify/swagger", "@fastify/swagger-ui"],
      ...["@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler"],
      ...["@fastify/type-provider-typebox", "typebox", "prom-client"],
      // Only its interface, which does nothing unless `tracing` is loaded.
      "@opentelemetry/api",
    ],
  },
  kubernetes: {
    folders: ["api", "client", "core"],
    packages: ["node:*", "@kubernetes/client-node"],
  },
  slots: { folders: ["api", "client", "core", "kubernetes"], packages: ["node:*"] },
  // Make clusters outside; they know nothing of lending.
  drivers: {
    folders: ["api", "client", "core", "kubernetes", "workers"],
    packages: ["node:*", "typebox", "yaml"],
  },
  workers: { folders: [], packages: ["node:*"] },
  "workers/admission": {
    folders: ["api", "broker", "client", "config", "core", "kubernetes"],
    packages: [],
  },
  "workers/fronts": {
    folders: ["api", "broker", "client", "config", "core", "drivers", "kubernetes"],
    packages: ["node:*", "yaml"],
  },
  "workers/janitor": {
    folders: ["api", "broker", "client", "config", "core", "journal", "workers"],
    packages: ["node:*"],
  },
  "workers/mirror": {
    folders: ["api", "broker", "client", "config", "core", "kubernetes"],
    packages: ["node:*"],
  },
  "workers/provisioner": {
    folders: [
      ...["api", "broker", "client", "config", "core", "drivers", "journal", "kubernetes"],
      "workers",
    ],
    packages: ["node:*"],
  },
  "workers/proxy": { folders: ["api", "client", "core"], packages: ["node:*"] },
  cli: {
    folders: [
      ...["api", "auth", "auth/sign-in", "client", "config", "core", "insight/audit"],
      ...["insight/pacing", "insight/what-if", "kubernetes"],
      ...["server", "server/migrate", "slots", "vault", "workers", "workers/janitor"],
      ...["workers/provisioner", "workers/proxy"],
    ],
    packages: ["node:*", "commander", "yaml"],
  },
  // Exports traces; loaded only by a server that does.
  tracing: {
    folders: ["broker", "journal"],
    packages: [
      ...["node:*", "@opentelemetry/api", "@opentelemetry/exporter-trace-otlp-http"],
      ...["@opentelemetry/resources", "@opentelemetry/sdk-trace-node", "pino"],
    ],
  },
  // Moves between another broker's records and a data folder that no server uses.
  "server/migrate": {
    folders: ["broker", "config", "core", "journal", "journal/postgres", "vault"],
    packages: ["node:*"],
  },
  // Where all parts meet.
  server: {
    folders: [
      ...["api", "auth", "auth/sign-in", "broker", "config", "core", "evidence", "http"],
      ...["insight", "journal"],
      "vault",
      ...["journal/postgres", "replicas", "tracing"],
      ...["workers/admission", "workers/janitor", "workers/mirror"],
      ...["workers/fronts", "workers/provisioner"],
    ],
    types: ["auth/issuers"],
    packages: ["node:*", "pino", "pino-pretty"],
  },
};

interface Import {
  readonly target: string;
  /** Erased before it runs. */
  readonly typeOnly: boolean;
}

function importsOf(source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const found = code.matchAll(
    /^(?:import|export)\b(\s+type\b)?[^"';]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm,
  );
  return Array.from(found, ([, type, from, bare, dynamic]) => {
    return { target: from ?? bare ?? dynamic ?? "", typeOnly: type !== undefined };
  });
}

/** The nearest folder that the table names: `src/core/gates/pace.ts` is in `core/gates` or `core`. */
function layerOf(path: string): string | undefined {
  for (let folder = dirname(path); folder.startsWith("src/"); folder = dirname(folder)) {
    const name = folder.slice("src/".length);
    if (layers[name] !== undefined) return name;
  }
  return undefined;
}

/** What is wrong with a file's imports, in words. */
function violations(path: string, source: string): string[] {
  const from = layerOf(path);
  const layer = from === undefined ? undefined : layers[from];
  if (from === undefined || layer === undefined) return [`${path} is in no layer: add it here`];
  return importsOf(source).flatMap(({ target, typeOnly }) => {
    if (!target.startsWith(".")) {
      const allowed = layer.packages.some((name) => isPart(target, name));
      return allowed ? [] : [`${from} may not use the package ${target}: ${path}`];
    }
    const to = normalize(join(dirname(path), target));
    if (/\.(test|suite)\.ts$/.test(to)) return [`${path} imports the test ${to}`];
    const other = layerOf(to);
    if (other === from || (other !== undefined && mayUse(layer, other, typeOnly))) return [];
    return [`${from} may not import ${other ?? "from outside of src"}: ${path} imports ${to}`];
  });
}

function mayUse({ folders, types = [] }: Layer, other: string, typeOnly: boolean): boolean {
  const allowed = typeOnly ? [...folders, ...types] : folders;
  const [top = ""] = other.split("/");
  return allowed.includes(other) || (layers[top] === undefined && allowed.includes(top));
}

function isPart(target: string, name: string): boolean {
  if (name === "node:*") return target.startsWith("node:");
  return target === name || target.startsWith(`${name}/`);
}

const root = new URL("../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const sources = globSync("src/**/*.ts", { cwd: root }).filter(
  (path) => !/\.(test|suite)\.ts$/.test(path),
);

test("every file imports only what its layer may", () => {
  expect(sources.length).toBeGreaterThan(80);
  expect(sources.flatMap((path) => violations(path, read(path)))).toEqual([]);
});

test("only the fold changes a state", () => {
  const editors = sources.filter((path) => {
    return importsOf(read(path)).some(({ target }) => target.endsWith("/edit.ts"));
  });
  expect(editors.length).toBeGreaterThan(4);
  expect(editors.filter((path) => !path.startsWith("src/core/apply/"))).toEqual([]);
});

/** Everything that is loaded with a file, over any number of steps. */
function packagesBehind(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return importsOf(read(path)).flatMap(({ target, typeOnly }) => {
    if (typeOnly) return [];
    if (!target.startsWith(".")) return [target];
    return packagesBehind(normalize(join(dirname(path), target)), seen);
  });
}

test.each(["core", "client"])("%s loads no package, through whatever it imports", (folder) => {
  const files = sources.filter((path) => path.startsWith(`src/${folder}/`));
  expect(files.length).toBeGreaterThan(5);
  expect(files.flatMap((path) => packagesBehind(path))).toEqual([]);
});

/** It takes 0.2 s to load, which nobody who runs another command should wait for. */
test("the Kubernetes client is loaded when it is called for, and never with a file", () => {
  const eager = /^import (?!type\b)[^;]*from "@kubernetes\//m;
  expect(eager.test('import { KubeConfig } from "@kubernetes/client-node";')).toBe(true);
  expect(sources.filter((path) => eager.test(read(path)))).toEqual([]);
});

describe("violations() finds", () => {
  const planted: Record<string, [string, string]> = {
    "a rule that reads an explanation": [
      "src/core/gates/x.ts",
      'import { waitReason } from "../explain/explain.ts";',
    ],
    "code that the model may only name": [
      "src/core/model/x.ts",
      'import { gatesOf } from "../gates/gates.ts";',
    ],
    "an arrow that points outward": [
      "src/core/model/x.ts",
      'import { a } from "../../http/app.ts";',
    ],
    "a type that points outward": [
      "src/core/model/x.ts",
      'import type { A } from "../../broker/broker.ts";',
    ],
    "an import over several lines": [
      "src/broker/x.ts",
      'import {\n  a,\n  b,\n} from "../http/x.ts";',
    ],
    "a re-export": ["src/api/x.ts", 'export { a } from "../http/app.ts";'],
    "an import for its effect": ["src/core/model/x.ts", 'import "../../journal/sqlite.ts";'],
    "a lazy import": ["src/client/x.ts", 'const a = await import("../broker/broker.ts");'],
    "a package in the core": ["src/core/model/x.ts", 'import fc from "fast-check";'],
    "something of Node's in the core": [
      "src/core/model/x.ts",
      'import { hash } from "node:crypto";',
    ],
    "a package that is not for this layer": ["src/broker/x.ts", 'import fastify from "fastify";'],
    "a package with a similar name": ["src/config/x.ts", 'import x from "yaml-extra";'],
    "a way out of src": ["src/core/model/x.ts", 'import { a } from "../../../sim/world.ts";'],
    "a way around": ["src/core/model/x.ts", 'import { a } from "./../../../src/http/app.ts";'],
    "a test in production": ["src/http/x.ts", 'import { a } from "./test-site.suite.ts";'],
    "main as a dependency": ["src/http/x.ts", 'import { serve } from "../server/main.ts";'],
    "a sub-folder that is not for this layer": [
      "src/cli/run/x.ts",
      'import { a } from "../../workers/mirror/mirror.ts";',
    ],
    "a folder that nobody knows": ["src/utils/x.ts", ""],
    "a file that is in no folder": ["src/x.ts", ""],
  };

  test.each(Object.entries(planted))("%s", (_, [path, source]) => {
    expect(violations(path, source)).toHaveLength(1);
  });

  test("nothing in what is fine", () => {
    const source = `
      // import { a } from "../../http/app.ts";
      /* import { a } from "../../http/app.ts"; */
    `;
    expect(violations("src/core/model/x.ts", source)).toEqual([]);
    expect(violations("src/broker/x.ts", 'import { a } from "../core/model/ids.ts";')).toEqual([]);
    expect(violations("src/config/x.ts", 'import a from "typebox/compile";')).toEqual([]);
  });
});
