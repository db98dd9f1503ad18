/** The tenants of the server: their weights, quotas and bounds. */
import Type from "typebox";
import { spaceLimits as limits } from "./limits.ts";
import { duration, Name } from "./schema-fields.ts";

const amount = { minimum: 0, maximum: limits.quotaMax };

export const PoolPattern = Type.String({
  title: "pattern of pools",
  pattern: "^[A-Za-z0-9*][A-Za-z0-9._*-]{0,252}$",
});

const Quota = Type.Record(
  Name,
  Type.Union([
    Type.Integer(amount),
    Type.Record(Type.String(), Type.Number(amount), { additionalProperties: false }),
  ]),
  {
    title: "map of quotas",
    description:
      "How much the space may hold at one time: a number of claims for a pool, amounts by dimension " +
      "for a shared pool, and under cost the sum of the costs of its claims. A pool counts with all " +
      "pools below it.",
    additionalProperties: false,
    examples: [{ "aws-account": 2, vsphere: { vcpus: 96 }, cost: 50 }],
  },
);

const Loans = Type.Record(
  Name,
  Type.Union([
    Type.Integer(amount),
    Type.Record(Type.String(), Type.Number(amount), { additionalProperties: false }),
  ]),
  { title: "map of amounts", additionalProperties: false, examples: [{ "aws-account": 2 }] },
);

export const Space = Type.Object(
  {
    weight: Type.Optional(
      Type.Number({
        title: "number",
        minimum: limits.weightMin,
        maximum: limits.weightMax,
        default: 1,
        description:
          "With weight 2 the space gets twice the share of a space with weight 1, when both wait.",
      }),
    ),
    pools: Type.Optional(
      Type.Array(PoolPattern, {
        title: "list of pools",
        description:
          "The pools that the space may use; * stands for any characters. All, without it.",
        examples: [["aws-*"]],
      }),
    ),
    quota: Type.Optional(Quota),
    cohort: Type.Optional({
      ...Name,
      title: "name of a cohort",
      description:
        "Spaces with the same cohort lend each other what they do not use of their quotas. A request " +
        "within its own quota goes ahead of those that borrow. Costs are not lent.",
    }),
    borrow: Type.Optional({
      ...Loans,
      description:
        "How much the space may hold beyond each quota, at most. Without it: all that others lend.",
    }),
    lend: Type.Optional({
      ...Loans,
      description: "How much of each quota others may use, at most. Without it: all of it.",
    }),
    waiting: Type.Optional(
      Type.Integer({
        title: "whole number",
        minimum: 1,
        maximum: limits.waitingMax,
        description: "How many requests of the space may wait at one time.",
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        title: "whole number",
        minimum: -1_000,
        maximum: 1_000,
        description: "The highest priority; requests with a higher one get this one.",
      }),
    ),
    lifetime: Type.Optional(
      duration(limits.lifetime, {
        example: "8h",
        description: "No lease of the space lasts longer than this.",
      }),
    ),
  },
  { title: "space", additionalProperties: false, examples: [{ weight: 2 }] },
);

export const Spaces = Type.Record(Name, Type.Union([Space, Type.Null()]), {
  title: "map of spaces",
  description:
    "The tenants: each lease belongs to the space of the credentials that requested it. Other spaces " +
    "are refused, unless there are spaceDefaults.",
  additionalProperties: false,
  maxProperties: limits.spacesMax,
});
