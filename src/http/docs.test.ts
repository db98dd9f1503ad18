import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { routesOf, type TestSite, testSite } from "./test-site.suite.ts";

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { in: string; name: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { description?: string; content?: Record<string, unknown> }>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly tags: readonly { readonly name: string }[];
}

let site: TestSite;
let document: Document;

beforeAll(async () => {
  site = await testSite([pool("aws", 1)]);
  document = (await site.call("GET /openapi.json")).body as Document;
});
afterAll(() => site[Symbol.asyncDispose]());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

describe("/openapi.json", () => {
  test("is an OpenAPI 3.1 document", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "Berth", version: "0.0.0" });
    expect(Object.keys(document.paths)).not.toHaveLength(0);
  });

  test("has every route under /v1 and the shell client, and nothing else", () => {
    const documented = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const served = routesOf(site.app.printRoutes({ commonPrefix: false }));
    const published = served.filter((route) => / (?:\/v1\/|\/client\.sh)/.test(route));
    expect(documented.sort()).toEqual(published.sort());
  });

  test("names for each operation a summary, a known tag and its answers", () => {
    const tags = document.tags.map(({ name }) => name);
    for (const { path, method, operation } of operations()) {
      const where = `${method} ${path}`;
      expect(operation.summary, where).toEqual(expect.any(String));
      expect(tags, where).toEqual(expect.arrayContaining([...(operation.tags ?? ["none"])]));
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status, where).toMatch(/^(default|[1-5]\d\d)$/);
        expect(response.description, `${where} ${status}`).toEqual(expect.any(String));
      }
      expect(
        Object.keys(operation.responses).some((status) => /^2|default/.test(status)),
        where,
      ).toBe(true);
    }
  });

  test("declares every parameter of a path, as required", () => {
    for (const { path, operation } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map(({ name }) => name).sort()).toEqual(inPath.sort());
      expect(declared.every(({ required }) => required === true)).toBe(true);
    }
  });

  test("documents problems as problem+json", () => {
    for (const { path, method, operation } of operations()) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (!/^[45]/.test(status)) continue;
        const types = Object.keys(content ?? {}).filter((type) => type !== "text/plain");
        expect(types, `${method} ${path} ${status}`).toEqual(["application/problem+json"]);
      }
    }
  });

  test("documents the lines that the calls of a job can be answered with", () => {
    const { responses } = document.paths["/v1/leases"]?.["post"] ?? { responses: {} };
    for (const status of ["201", "202", "404"]) {
      expect(Object.keys(responses[status]?.content ?? {}), status).toContain("text/plain");
    }
    expect(Object.keys(responses["201"]?.content ?? {})).toContain("application/json");
    const other = document.paths["/v1/spaces"]?.["get"]?.responses["200"]?.content;
    expect(Object.keys(other ?? {})).toEqual(["application/json"]);
  });

  test("has schemas of 3.1 only: types are known, nothing is nullable, references resolve", () => {
    const known = ["object", "array", "string", "number", "integer", "boolean", "null"];
    walk(document, (node, where) => {
      expect(node, where).not.toHaveProperty("nullable");
      const { type, $ref: ref } = node;
      if (typeof ref === "string") expect(resolve(ref), ref).toBeDefined();
      if (typeof type === "string" && "properties" in node) expect(known, where).toContain(type);
      if (Array.isArray(type)) expect(known, where).toEqual(expect.arrayContaining(type));
      if (typeof node["pattern"] === "string")
        expect(() => new RegExp(String(node["pattern"]), "u")).not.toThrow();
    });
  });
});

function resolve(ref: string): unknown {
  const steps = ref.replace(/^#\//, "").split("/");
  return steps.reduce<unknown>((node, step) => (node as Schema | undefined)?.[step], document);
}

function walk(node: unknown, visit: (node: Schema, where: string) => void, where = "#"): void {
  if (typeof node !== "object" || node === null) return;
  visit(node as Schema, where);
  for (const [key, child] of Object.entries(node)) walk(child, visit, `${where}/${key}`);
}

test.each([
  ["/docs", "text/html"],
  ["/docs/json", "application/json"],
  ["/openapi.json", "application/json"],
  ["/healthz", "text/plain"],
  ["/readyz", "text/plain"],
])("%s answers", async (path, type) => {
  expect(await site.call(`GET ${path}`)).toMatchObject({ status: 200, type });
});

test("the type of a problem leads to a page of this server", async () => {
  const { body } = await site.call("GET /v1/pools/nothing");
  const { type } = body as { type: string };
  const page = await site.call(`GET ${type.replace(/#.*/, "")}`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("pool_not_found");
});

test("the runbook shows emphasis, and says where the other guides are", async () => {
  const { text } = await site.call("GET /docs/runbook");
  expect(text).toContain("<em>critical</em>");
  expect(text).not.toMatch(/[ (]\*\w/);
  expect(text).toContain("restore the backup (<code>docs/guides/replicas.md</code>)");
  expect(text).toContain('<a href="#berthdown">BerthDown</a>');
});

describe("the policy of a page", () => {
  test.each([
    "/",
    "/pools/aws",
    "/docs",
    "/docs/",
    "/docs/static/index.html",
    "/docs/errors",
    "/docs/runbook",
  ])("at %s allows no script but the server's own, and no frame", async (path) => {
    const { headers } = await site.call(`GET ${path}`, { headers: { accept: "text/html" } });
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    const [scripts = "script-src 'none'"] = /script-src [^;]*/.exec(policy) ?? [];
    expect(["script-src 'self'", "script-src 'none'"]).toContain(scripts);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });
});
