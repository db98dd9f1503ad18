import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { Template, TemplateChecksBody } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { Page } from "../../api/schemas.ts";
import { mayDo } from "../../auth/roles.ts";
import { nearest } from "../../core/model/nearest.ts";
import type { State } from "../../core/model/state.ts";
import { maskOf } from "../../vault/secret-patterns.ts";
import { callerOf } from "../authorize.ts";
import type { App, Context } from "../context.ts";
import { pageFields, pageOf } from "../paging.ts";
import { NameParams } from "../request.ts";
import { NoContent, problems } from "../responses.ts";
import { renderTemplate } from "./render.ts";
import type { TemplateInfo } from "./template-info.ts";

const TemplatePage = Page(Template);
const Query = Type.Object(pageFields, { additionalProperties: false });

/** What users may set. Pinned values, commands and credentials are not part of it. */
export function templateRoutes(app: App, context: Context): void {
  const { broker, templates } = context;
  const listing = {
    tags: ["clusters"],
    summary: "All templates: what clusters can be made, and with which parameters",
    querystring: Query,
    response: { 200: TemplatePage, ...problems(400) },
  };
  app.get("/v1/templates", { schema: listing }, (request) =>
    broker.read((state) => {
      const lackOf = lacksFor(request, context);
      return pageOf(
        templates(),
        request.query,
        ({ name }) => name,
        (template) => renderTemplate(template, poolsOf(state, template.name), lackOf(template)),
      );
    }),
  );
  const one = {
    tags: ["clusters"],
    summary: "One template",
    params: NameParams,
    response: { 200: Template, ...problems(404) },
  };
  app.get("/v1/templates/:name", { schema: one }, (request) => {
    const { name } = request.params;
    const template = templates().find((known) => known.name === name);
    if (template === undefined) throw templateNotFound(name, templates());
    const lack = lacksFor(request, context)(template);
    return broker.read((state) => renderTemplate(template, poolsOf(state, name), lack));
  });
  checksRoute(app, context);
}

function checksRoute(app: App, { broker, templateReports, templates, vault }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "For workers: the templates that this provisioner cannot use now, all of them",
    description: "To be repeated every 15 s: after a minute without a report it is forgotten",
    body: TemplateChecksBody,
    response: { 204: NoContent, ...problems(400) },
  };
  const { clean } = maskOf(vault.redactor);
  app.put("/v1/template-checks", { schema }, async (request, reply) => {
    const { provisioner, unusable } = request.body;
    const known = new Set(templates().map(({ name }) => name));
    const lacks = unusable.filter(({ name }) => known.has(name));
    const said = lacks.map(({ name, why }) => {
      return { name, why: clean(`${provisioner}: ${why}`) };
    });
    templateReports.put(`remote ${provisioner}`, said, broker.now());
    reply.code(204);
  });
}

/** Paths and variables are for those who may observe; others learn that something is missing. */
function lacksFor(request: FastifyRequest, { broker, templateReports }: Context) {
  const { role } = callerOf(request);
  const lacks = templateReports.all(broker.now());
  return ({ name }: TemplateInfo): string | null => {
    const own = lacks.filter((one) => one.name === name);
    if (own.length === 0) return null;
    if (!mayDo(role, "observe")) return "Something that it needs is missing: ask an operator";
    return own.map(({ why }) => why).join("; ");
  };
}

function poolsOf(state: State, template: string): string[] {
  const pools = state.pools.values().filter(({ policy }) => policy.cluster?.template === template);
  return Array.from(pools, ({ name }) => name);
}

export function templateNotFound(name: string, templates: readonly TemplateInfo[]): Problem {
  const known = templates.map((template) => template.name);
  const meant = nearest(name, known);
  const names =
    known.length === 0 ? "The configuration has no templates" : `Use ${known.join(", ")}`;
  return new Problem({
    code: "template_not_found",
    status: 404,
    message: `Cannot find template "${name}"`,
    hint: meant === undefined ? names : `Did you mean "${meant}"?`,
    facts: { known, ...(meant === undefined ? undefined : { nearest: meant }) },
  });
}
