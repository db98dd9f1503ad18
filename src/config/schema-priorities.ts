/** Names of priorities, and how they rise while a request waits. */
import Type from "typebox";
import { priorityLimits as limits } from "./limits.ts";
import { duration } from "./schema-fields.ts";

const priority = { minimum: -limits.priorityMax, maximum: limits.priorityMax };

/** Not a number, so that a name is never taken for one. */
export const ClassName = Type.String({
  title: "name of a priority",
  pattern: "^[A-Za-z][A-Za-z0-9._-]{0,62}$",
});

export const Priorities = Type.Record(ClassName, Type.Integer(priority), {
  title: "map of priorities",
  description:
    "Names for priorities, which a request may give instead of a number. Higher goes first; 0 is the " +
    "priority of a request that gives none.",
  additionalProperties: false,
  maxProperties: limits.classesMax,
  examples: [{ urgent: 100, nightly: -10 }],
});

export const Ageing = Type.Object(
  {
    every: duration(limits.every, {
      example: "10m",
      description: "How long a request waits until its priority rises, and until it rises again.",
    }),
    step: Type.Optional(
      Type.Integer({
        title: "whole number",
        minimum: 1,
        maximum: limits.priorityMax,
        default: 1,
        description: "By how much it rises each time.",
      }),
    ),
    max: Type.Optional(
      Type.Integer({
        title: "whole number",
        ...priority,
        default: 0,
        description:
          "No priority rises above this, nor above the priority of its space. Requests that have it " +
          "from the start keep their order.",
      }),
    ),
  },
  {
    title: "ageing",
    description:
      "The priority of a waiting request rises step by step, so that it does not starve.",
    additionalProperties: false,
    examples: [{ every: "10m" }, { every: "5m", step: 10, max: 50 }],
  },
);
