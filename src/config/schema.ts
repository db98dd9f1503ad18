import Type, { type Static } from "typebox";
import { defaultPolicy } from "../core/model/policy.ts";
import { placementFields, roomFields } from "./capacity-schema.ts";
import {
  durationLimits,
  labelKeyLengthMax,
  labelsPerResourceMax,
  labelValueLengthMax,
  poolsMax,
  resourcesMax,
} from "./limits.ts";
import { Adaptive, Limit, Pace, Parent } from "./pace-schema.ts";
import { Admission } from "./schema-admission.ts";
import { duration, Name, state } from "./schema-fields.ts";
import { Mirror } from "./schema-mirror.ts";
import { Profiles } from "./schema-profiles.ts";
import { Dynamic, Janitor, Silences } from "./schema-upkeep.ts";

/**
 * The configuration file, said once: what the parser accepts, what TypeScript knows of it, and the
 * JSON Schema that editors complete and check against all come from here.
 *
 * It keeps to the vocabulary of JSON Schema draft 7, which every editor understands. A `title` is
 * the noun that error messages use: "5 is not a name".
 */
export const LabelKey = Type.String({
  title: "label key",
  pattern: `^[A-Za-z0-9][A-Za-z0-9._/-]{0,${labelKeyLengthMax - 1}}$`,
});

export const LabelValue = Type.String({
  title: "label value",
  description: "Any text without control characters",
  pattern: `^[^\\x00-\\x1f\\x7f]{0,${labelValueLengthMax}}$`,
});

export const Count = Type.Integer({
  title: "whole number",
  description:
    "How many resources the pool has. They are named <pool>-1, <pool>-2 and so on, so a pool " +
    "that grows keeps the names it had.",
  minimum: 0,
  maximum: resourcesMax,
  examples: [50],
});

export const Labels = Type.Record(LabelKey, LabelValue, {
  title: "map of labels",
  description: "What is known about the resource; shown to whoever holds it.",
  additionalProperties: false,
  maxProperties: labelsPerResourceMax,
  examples: [{ region: "us-east-1" }],
});

export const Member = Type.Object(
  { labels: Type.Optional(Labels), ...roomFields },
  { title: "resource", description: "One resource of the pool.", additionalProperties: false },
);

const Members = Type.Union(
  [
    Type.Array(Name, { maxItems: resourcesMax }),
    Type.Record(Name, Type.Union([Member, Type.Null()]), {
      additionalProperties: false,
      maxProperties: resourcesMax,
    }),
  ],
  {
    title: "list of names",
    description:
      "The resources by name: a list, or a map from each name to its labels. A name is used once " +
      "in the whole file.",
    examples: [["aws-1", "aws-2"], { "aws-1": { labels: { region: "us-east-1" } } }],
  },
);

export const Pool = Type.Object(
  {
    count: Type.Optional(Count),
    members: Type.Optional(Members),
    ttl: Type.Optional(
      duration(durationLimits.ttl, {
        example: "10m",
        description: "A lease that sends no heartbeat for so long has expired.",
        defaultMs: defaultPolicy.ttlMs,
      }),
    ),
    lifetime: Type.Optional(
      duration(durationLimits.lifetime, {
        example: "4h",
        description:
          "No lease lasts longer than this, however alive its holder is. Without it there is no end.",
      }),
    ),
    hold: Type.Optional(
      duration(durationLimits.hold, {
        example: "20m",
        description:
          "The server gives a claim back so long after its grant, while the rest of the lease goes " +
          "on. Without it a claim lasts as long as its lease.",
      }),
    ),
    cooldown: Type.Optional(
      duration(durationLimits.cooldown, {
        example: "10s",
        description: "A resource rests so long after each use before it is lent again.",
        defaultMs: defaultPolicy.cooldownMs,
      }),
    ),
    lockDelay: Type.Optional(
      duration(durationLimits.lockDelay, {
        example: "15s",
        description:
          "A resource taken from a holder that vanished rests so long: the holder may still be dying.",
        defaultMs: defaultPolicy.lockDelayMs,
      }),
    ),
    patience: Type.Optional(
      duration(durationLimits.patience, {
        example: "10m",
        description:
          "For so long a request over several pools may be overtaken; then what comes free is kept " +
          "for it.",
        defaultMs: defaultPolicy.patienceMs,
      }),
    ),
    onRelease: state(
      "The state of a resource that was given back. Only free ones are lent.",
      defaultPolicy.onRelease,
    ),
    onExpire: state(
      "The state of a resource whose lease expired or was ended by an operator; the same as " +
        "onRelease unless it is written, or dirty if the pool has a janitor.",
    ),
    silence: Type.Optional(Silences),
    dynamic: Type.Optional(Dynamic),
    janitor: Type.Optional(Janitor),
    pace: Type.Optional(Pace),
    adaptive: Type.Optional(Adaptive),
    parent: Type.Optional(Parent),
    limit: Type.Optional(Limit),
    admission: Type.Optional(Admission),
    ...placementFields,
  },
  {
    title: "pool",
    description: "A group of interchangeable resources with one policy.",
    additionalProperties: false,
    anyOf: ["count", "members", "dynamic", "limit"].map((key) => ({ required: [key] })),
    not: { required: ["count", "members"] },
    examples: [{ count: 50, ttl: "10m" }],
  },
);

export const ConfigFile = Type.Object(
  {
    pools: Type.Record(Name, Pool, {
      title: "map of pools",
      description: "What there is to lend: each pool under its name.",
      additionalProperties: false,
      maxProperties: poolsMax,
    }),
    profiles: Type.Optional(Profiles),
    mirror: Type.Optional(Mirror),
  },
  {
    title: "Berth configuration",
    description: "What Berth lends, and how.",
    additionalProperties: false,
  },
);

/** A valid file as plain data, for those who write one with a program. */
export type ConfigFile = Static<typeof ConfigFile>;

/** For editors: what `berth.schema.json` holds, and what `# yaml-language-server:` points at. */
export function configJsonSchema(): object {
  return { $schema: "http://json-schema.org/draft-07/schema#", ...ConfigFile };
}
