/** What the file says of pools whose resources are lent by amount. */
import Type from "typebox";
import { amountMax } from "./limits.ts";

const closed = { additionalProperties: false } as const;
const dimensionPattern = "^[A-Za-z][A-Za-z0-9._-]{0,62}$";
export const Dimension = Type.String({ title: "dimension", pattern: dimensionPattern });

/** Of a pool: its parts by kind, then by name. */
export const Parts = Type.Record(
  Dimension,
  Type.Object(
    {
      apart: Type.Optional(
        Type.String({
          title: "attribute",
          description: "One claim gets no two parts that have the same value of this attribute.",
          examples: ["vlanId"],
        }),
      ),
      members: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
        title: "map of parts",
        description: "The parts by name, each with the attributes that its holder gets.",
        examples: [{ "ci-vlan-1302": { gateway: "10.0.0.1" } }],
      }),
    },
    closed,
  ),
  { title: "map of kinds of parts", ...closed },
);

export const Taint = Type.Object(
  {
    key: Type.String({ title: "key", description: "What is special about the resource." }),
    value: Type.Optional(Type.String({ title: "value", description: "A detail of it." })),
    effect: Type.Union([Type.Literal("NoSchedule"), Type.Literal("PreferNoSchedule")], {
      title: "effect",
      description: "Only for requests that tolerate it, or for others too if there is no other.",
    }),
  },
  closed,
);

/** Keys of a member. */
export const roomFields = {
  capacity: Type.Optional(
    Type.Record(Dimension, Type.Integer({ minimum: 0, maximum: amountMax }), {
      title: "map of amounts",
      description: "What there is of each dimension, in whole numbers.",
      examples: [{ vcpus: 120, memory: 1600 }],
      ...closed,
    }),
  ),
  overcommit: Type.Optional(
    Type.Record(Dimension, Type.Union([Type.String(), Type.Number()]), {
      title: "map of ratios",
      description: "So many times what there is may be lent; a decimal above 0, at most 100.",
      examples: [{ vcpus: 2.5 }],
      ...closed,
    }),
  ),
  taints: Type.Optional(
    Type.Array(Taint, {
      title: "list of taints",
      description: "Keeps requests away that do not tolerate them.",
    }),
  ),
  excluded: Type.Optional(
    Type.Boolean({
      title: "true or false",
      description: "Only lent to requests that ask for it by name.",
    }),
  ),
  parts: Type.Optional(
    Type.Record(Dimension, Type.Array(Type.String()), {
      title: "map of names",
      description: "By kind, the names of the parts that can be had on it.",
      examples: [{ networks: ["ci-vlan-1302"] }],
      ...closed,
    }),
  ),
};
