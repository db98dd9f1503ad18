import Type from "typebox";
import { Template } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { Page } from "../../api/schemas.ts";
import { nearest } from "../../core/model/nearest.ts";
import type { State } from "../../core/model/state.ts";
import type { App, Context } from "../context.ts";
import { pageFields, pageOf } from "../paging.ts";
import { NameParams } from "../request.ts";
import { problems } from "../responses.ts";
import { renderTemplate } from "./render.ts";
import type { TemplateInfo } from "./template-info.ts";

const TemplatePage = Page(Template);
const Query = Type.Object(pageFields, { additionalProperties: false });

/** What users may set. Pinned values, commands and credentials are not part of it. */
export function templateRoutes(app: App, { broker, templates }: Context): void {
  const listing = {
    tags: ["clusters"],
    summary: "All templates: what clusters can be made, and with which parameters",
    querystring: Query,
    response: { 200: TemplatePage, ...problems(400) },
  };
  app.get("/v1/templates", { schema: listing }, (request) =>
    broker.read((state) => {
      return pageOf(
        templates(),
        request.query,
        ({ name }) => name,
        (template) => renderTemplate(template, poolsOf(state, template.name)),
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
    return broker.read((state) => renderTemplate(template, poolsOf(state, name)));
  });
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
