/** What the wire has of pools that are lent by amount. */
import Type, { type Static } from "typebox";
import { type Strategy, strategies } from "../core/model/strategies.ts";
import { limits } from "./limits.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: limits.nameLengthMax });
const Key = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$" });
const Amount = Type.Integer({ minimum: 0, maximum: limits.amountMax });
const Effect = Type.Union([Type.Literal("NoSchedule"), Type.Literal("PreferNoSchedule")]);

const Toleration = Type.Object(
  {
    key: Type.Optional(Type.String({ maxLength: limits.labelValueLengthMax })),
    operator: Type.Optional(Type.Union([Type.Literal("Equal"), Type.Literal("Exists")])),
    value: Type.Optional(Type.String({ maxLength: limits.labelValueLengthMax })),
    effect: Type.Optional(Effect),
  },
  closed,
);

/** The fields of an item that say how much is wanted and where. */
export const placingFields = {
  amount: Type.Optional(
    Type.Record(Key, Amount, {
      ...closed,
      maxProperties: limits.labelsMax,
      description:
        "What it takes from each resource: an amount of each dimension, a number of each kind of parts",
      examples: [{ vcpus: 24, memory: 96, networks: 1 }],
    }),
  ),
  selector: Type.Optional(
    Type.Record(Key, Type.String({ maxLength: limits.labelValueLengthMax }), {
      ...closed,
      maxProperties: limits.labelsMax,
      description: "Labels that the resource must have, in shared and in exclusive pools",
    }),
  ),
  tolerations: Type.Optional(
    Type.Array(Toleration, {
      maxItems: limits.labelsMax,
      description: "Taints that do not matter",
    }),
  ),
  spread: Type.Optional({
    ...Name,
    description: "Each of the resources has another value of this label",
  }),
  atMost: Type.Optional(
    Type.Record(Key, Type.Integer({ minimum: 1, maximum: limits.countPerItemMax }), {
      ...closed,
      maxProperties: 8,
      description: "The largest number of different values of a label, over all of the resources",
    }),
  ),
  resource: Type.Optional({ ...Name, description: "Only this resource" }),
  exclude: Type.Optional(
    Type.Array(Name, { maxItems: limits.labelsMax, description: "None of these" }),
  ),
  strategy: Type.Optional(
    Type.Unsafe<Strategy>({
      type: "string",
      enum: [...strategies],
      description: "Instead of the pool's own, where the pool allows it",
    }),
  ),
};

export const GroupBody = Type.Object(
  {
    name: { ...Name, description: "Its leases may share parts, such as networks" },
    size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.itemsPerRequestMax,
        description: "So many requests of this group are granted at one moment, or none; else 1",
      }),
    ),
  },
  closed,
);

const AmountsShown = Type.Record(Type.String(), Type.Number());

/** The fields of a claim that is a share. */
export const shareFields = {
  amount: Type.Optional(
    Type.Record(Type.String(), Type.Number(), { description: "What it has of each dimension" }),
  ),
  parts: Type.Optional(
    Type.Array(
      Type.Object({
        kind: Type.String(),
        name: Type.String(),
        attributes: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: "Only for the holder, who shows the token",
          }),
        ),
      }),
      { description: "What came with it and is lent whole, such as networks" },
    ),
  ),
};

/** Room that is reserved for a waiting request, as much as it asks for. */
const Reservation = Type.Object({
  id: Type.String(),
  holder: Type.String(),
  amount: AmountsShown,
});

const Usage = Type.Object({
  dimension: Type.String(),
  used: Type.Number(),
  capacity: Type.Number({ description: "With overcommit" }),
});

/** Of a pool whose resources are lent by amount. */
export const placeFields = {
  place: Type.Optional(Type.String({ description: "How resources are chosen" })),
  usage: Type.Optional(Type.Array(Usage, { description: "Over all of its resources" })),
};

/** Of a resource that is lent by amount. */
export const roomFields = {
  usage: Type.Optional(
    Type.Array(
      Type.Object({
        ...Usage.properties,
        reserved: Type.Optional(
          Type.Number({ description: "Of what is free: reserved for requests that wait" }),
        ),
      }),
    ),
  ),
  taints: Type.Optional(Type.Array(Type.String())),
  shares: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        holder: Type.String(),
        since: Type.String({ format: "date-time" }),
        amount: AmountsShown,
      }),
      { description: "Who has how much of it, oldest first" },
    ),
  ),
  reservations: Type.Optional(
    Type.Array(Reservation, {
      description: "The requests for which room on it is reserved: they start here when it is free",
    }),
  ),
};

/** Why there is no room on a resource. */
export const RoomExplanation = Type.Object({
  resource: Type.String(),
  fits: Type.Boolean(),
  unfit: Type.Optional(
    Type.String({ description: "Why it is not for this request, however empty it is" }),
  ),
  usage: roomFields.usage,
  shares: roomFields.shares,
  short: Type.Array(
    Type.Object({
      dimension: Type.String(),
      asked: Type.Number(),
      free: Type.Number({ description: "And not reserved for a request ahead" }),
      reservedAhead: Type.Optional(
        Type.Number({ description: "Free too, but reserved for requests ahead" }),
      ),
      capacity: Type.Number({ description: "What the resource has, with overcommit" }),
    }),
    { description: "What it has too little of, the first asked for first" },
  ),
  reserved: Type.Optional(
    Type.Boolean({ description: "Capacity on it is reserved for this request" }),
  ),
  keptFor: Type.Array(Reservation, { description: "What is kept on it for those before" }),
  longest: Type.Optional(
    Type.Object(
      { id: Type.String(), holder: Type.String(), backBy: Type.Optional(Type.String()) },
      { description: "Who will have its share the longest" },
    ),
  ),
});

export type PlacingBody = {
  [Key in keyof typeof placingFields]?: Static<(typeof placingFields)[Key]>;
};
export type RoomExplanation = Static<typeof RoomExplanation>;
export type Usage = Static<typeof Usage>;
