/** Credentials are tried out by a provisioner before they are stored, if the driver can do that. */
import Type from "typebox";
import { CheckBody, CheckToDo } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { Duration } from "../../api/schemas.ts";
import type { CheckResult } from "../../vault/credential-checks.ts";
import { maskOf } from "../../vault/secret-patterns.ts";
import type { CredentialValues } from "../../vault/space-credentials.ts";
import type { App, Context } from "../context.ts";
import { durationIn } from "../request.ts";
import { NoContent, problems } from "../responses.ts";

/** Within the time that clients wait for an answer, even if two templates use the credentials. */
const checkMs = 12_000;

/** Throws a Problem, in the driver's words, if a template cannot be used with the credentials. */
export async function mustWork(
  { templates, vault }: Context,
  name: string,
  values: CredentialValues,
): Promise<void> {
  const users = templates().filter((one) => one.ownCredentials === name && one.validates === true);
  if (users.length === 0) return;
  vault.credentials.register(values);
  const results = await Promise.all(
    users.map((template) => vault.checks.ask(template.name, values, checkMs)),
  );
  const bad =
    results.find(({ verdict }) => verdict === "refused") ??
    results.find(({ verdict }) => verdict === "unknown");
  if (bad !== undefined) throw problemOf(name, bad, maskOf(vault.redactor).clean);
}

function problemOf(
  name: string,
  { verdict, why }: CheckResult,
  clean: (text: string) => string,
): Problem {
  const said = clean(why);
  if (verdict === "refused") {
    return new Problem({
      code: "credentials_refused",
      status: 422,
      message: `Cannot store the credentials "${name}": ${said}`,
      hint: "Store ones that work. Nothing has changed: earlier ones stay in use",
    });
  }
  return new Problem({
    code: "credentials_unchecked",
    status: 503,
    message: `Cannot check the credentials "${name}": ${said}`,
    hint: "Try again. Operators: a provisioner must run, and its log has the cause",
  });
}

const waitRange = { minMs: 0, maxMs: 60_000 };

export function checkRoutes(app: App, { vault }: Context): void {
  const next = {
    tags: ["clusters"],
    summary: "For workers: waits for credentials that a space wants to store",
    querystring: Type.Object({ wait: Type.Optional(Duration) }, { additionalProperties: false }),
    response: { 200: CheckToDo, 204: NoContent, ...problems(400) },
  };
  app.get("/v1/credential-checks", { schema: next }, async (request, reply) => {
    const { wait = "0s" } = request.query;
    const waitMs = durationIn("query.wait", wait, waitRange);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const check = await vault.checks.take(
      AbortSignal.any([gone.signal, AbortSignal.timeout(waitMs)]),
    );
    reply.header("cache-control", "no-store");
    if (check === undefined) return reply.code(204).send();
    const { id, template, values } = check;
    return { id, template, values: { ...values } };
  });
  const answer = {
    tags: ["clusters"],
    summary: "For workers: whether the credentials work",
    params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
    body: CheckBody,
    response: { 204: NoContent, ...problems(400, 404) },
  };
  app.put("/v1/credential-checks/:id", { schema: answer }, async (request, reply) => {
    if (!vault.checks.answer(request.params.id, request.body)) throw checkNotFound();
    reply.code(204);
  });
}

function checkNotFound(): Problem {
  return new Problem({
    code: "check_not_found",
    status: 404,
    message: "Cannot answer the check: nobody waits for it any longer",
    hint: "Take the next one with GET /v1/credential-checks",
  });
}
