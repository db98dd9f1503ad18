/** The keys of a pool that makes its resources. */
import Type from "typebox";
import { templateLimits } from "./limits.ts";
import { Name } from "./schema-fields.ts";
import { ParameterValues } from "./schema-templates.ts";

const clusters = { minimum: 0, maximum: templateLimits.clustersMax, title: "whole number" };

export const clusterPoolFields = {
  template: Type.Optional(
    Type.String({
      ...Name,
      description: "The pool makes its resources from this template, and destroys what was used.",
      examples: ["ocp-aws"],
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      ...clusters,
      description:
        "How many clusters that nobody holds the pool keeps. With 0 it makes one for each request.",
      default: 0,
    }),
  ),
  running: Type.Optional(
    Type.Union([Type.Integer(clusters), Type.Literal("auto")], {
      title: "whole number, or auto",
      description:
        "How many of these are awake; the others hibernate. With auto, as many as recent requests " +
        "need.",
      default: 0,
    }),
  ),
  max: Type.Optional(
    Type.Integer({
      ...clusters,
      description: "How many clusters there may be, those included that are lent or destroyed.",
    }),
  ),
  concurrent: Type.Optional(
    Type.Integer({
      ...clusters,
      minimum: 1,
      description: "How many clusters may be created and destroyed at one time.",
    }),
  ),
  parameters: Type.Optional({
    ...ParameterValues,
    description: "The parameters of the clusters that the pool keeps.",
  }),
};
