/**
 * Answers as lines for clients that cannot read JSON, such as `clients/shell/client.sh`: one line
 * `path=value` for each value, as in `claims.0.resource=aws-1`.
 *
 * Names and user data are foreign text, so every character that could end a line, or that a terminal
 * would act on, is escaped: a backslash as `\\`, others by the octal numbers of their bytes, as in
 * `\0012`. `printf %b` of any shell makes the text of it again. A client compares paths and keeps values;
 * nothing needs to be evaluated.
 */
import type { FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import type { App } from "./context.ts";

/** The calls of a job. */
const routes: ReadonlySet<string> = new Set([
  "POST /v1/leases",
  "GET /v1/leases/:id",
  "DELETE /v1/leases/:id",
  "POST /v1/leases/:id/heartbeat",
  "GET /v1/leases/:id/claims/:claim/access",
  "POST /v1/requests/resume",
  "GET /v1/requests/:id",
  "DELETE /v1/requests/:id",
  "GET /v1/pools",
]);

export const linesType = "text/plain; charset=utf-8";

export function hasLines(method: string, path: string | undefined): boolean {
  return routes.has(`${method} ${path}`);
}

/** Whether the client accepts plain text and no JSON. Most clients accept everything, and get JSON. */
export function wantsLines({ method, headers, routeOptions }: FastifyRequest): boolean {
  const { accept } = headers;
  if (accept === undefined || !hasLines(method, routeOptions.url)) return false;
  const types = accept.split(",").map((part) => part.split(";", 1)[0]?.trim().toLowerCase());
  return types.every((type) => type === "text/plain");
}

/** Problems become lines where they are sent: `sendProblem`. */
export function answerLines(app: App): void {
  app.addHook("onRoute", (route) => {
    const methods = [route.method].flat();
    if (!methods.some((method) => hasLines(method, route.url))) return;
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      (request, reply, done) => {
        if (wantsLines(request)) reply.type(linesType).serializer(linesOf);
        done();
      },
    ];
  });
}

const documented = {
  schema: {
    type: "string",
    description: "One line `path=value` for each value of the JSON, such as `claims.0.pool=aws`",
  },
};

/** Adds the lines to the answers of a call, in the OpenAPI document only. */
export function documentLines(schema: FastifySchema, route: RouteOptions): FastifySchema {
  if (![route.method].flat().some((method) => hasLines(method, route.url))) return schema;
  const answers = Object.entries<Answer>(Object(schema.response)).map(([status, answer]) => {
    if (answer.type === "null") return [status, answer] as const;
    const content = answer.content ?? { "application/json": { schema: answer } };
    const { description = "Done" } = answer;
    return [status, { description, content: { ...content, "text/plain": documented } }] as const;
  });
  return { ...schema, response: Object.fromEntries(answers) };
}

interface Answer {
  readonly type?: unknown;
  readonly description?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

export function linesOf(value: unknown): string {
  const lines: string[] = [];
  addLines(value, "", lines);
  return lines.map((line) => `${line}\n`).join("");
}

function addLines(value: unknown, path: string, lines: string[]): void {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null) {
    lines.push(`${path}=${value === null ? "" : escapeText(String(value))}`);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const name = escapeText(key).replace(/[.=]/g, octalOf);
    addLines(inner, path === "" ? name : `${path}.${name}`, lines);
  }
}

/** Controls, line separators, and characters that are invisible or change the direction of text. */
const unsafe = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escapeText(text: string): string {
  return text.replace(unsafe, (found) => (found === "\\" ? "\\\\" : octalOf(found)));
}

/** Four digits, so that a digit that follows does not count. */
function octalOf(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("");
}
