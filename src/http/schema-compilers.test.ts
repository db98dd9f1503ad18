import fastify from "fastify";
import { describe, expect, test } from "vitest";
import { AskBody, Lease } from "../api/schemas.ts";
import { compilersFactory } from "./schema-compilers.ts";

const ajv = { customOptions: { allErrors: true, verbose: true, coerceTypes: false } };

/** An app with one route, which answers with the body that it was sent. */
function echo(options: object) {
  const app = fastify({ ajv, ...options });
  app.setErrorHandler((error, _request, reply) => {
    reply.code(400);
    return Object(error).validation;
  });
  const schema = { body: AskBody, response: { 200: AskBody } };
  app.post("/", { schema }, async ({ body }) => Object.assign({ beside: 1 }, body));
  return app;
}

const bodies: Record<string, object> = {
  "what is valid": { holder: "a job", items: [{ pool: "aws", count: 2 }] },
  "a missing field": { items: [{ pool: "aws" }] },
  "a wrong type, which is not coerced": { holder: 7, items: [{ pool: "aws", count: "2" }] },
  "a field too many": { holder: "a job", items: [{ pool: "aws" }], itms: [] },
};

describe("compilersFactory", () => {
  test.each(Object.entries(bodies))(
    "answers as Fastify's own compilers do to %s",
    async (_, body) => {
      const call = { method: "POST", url: "/", body } as const;
      const own = await echo({}).inject(call);
      const shared = await echo({ schemaController: { compilersFactory } }).inject(call);
      expect([shared.statusCode, shared.body]).toEqual([own.statusCode, own.body]);
      expect(own.body).not.toContain("beside");
    },
  );

  test("compiles a schema once for all apps of a process", () => {
    const { buildValidator, buildSerializer } = compilersFactory;
    const route = { method: "POST", url: "/", httpPart: "body", httpStatus: "200", schema: Lease };
    expect(buildValidator({}, ajv)(route)).toBe(buildValidator({}, ajv)(route));
    expect(buildSerializer()(route)).toBe(buildSerializer()({ ...route, url: "/elsewhere" }));
  });

  test("never takes one schema for another, however alike", () => {
    const { buildSerializer } = compilersFactory;
    const route = { method: "GET", url: "/", httpStatus: "200" };
    const only = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
    const both = { a: "1", b: "2" };
    const [a, b] = ["a", "b"].map((name) => buildSerializer()({ ...route, schema: only(name) }));
    expect([a?.(both), b?.(both)]).toEqual(['{"a":"1"}', '{"b":"2"}']);
  });
});
