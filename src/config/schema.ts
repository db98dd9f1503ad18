import Type, { type Static } from "typebox";
import { durationPattern, formatDuration } from "../core/duration.ts";
import { defaultPolicy } from "../core/policy.ts";
import {
  type DurationKey,
  durationLimits,
  labelKeyLengthMax,
  labelsPerResourceMax,
  labelValueLengthMax,
  nameLengthMax,
  poolsMax,
  resourcesMax,
  stateLengthMax,
} from "./limits.ts";

/**
 * The configuration file, said once: what the parser accepts, what TypeScript knows of it, and the
 * JSON Schema that editors complete and check against all come from here.
 *
 * It keeps to the vocabulary of JSON Schema draft 7, which every editor understands. A `title` is
 * the noun that error messages use: "5 is not a name".
 */
export const Name = Type.String({
  title: "name",
  pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,${nameLengthMax - 1}}$`,
});

const statePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,${stateLengthMax - 1}}$`;
export const StateName = Type.String({ title: "state", pattern: statePattern });

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
  { labels: Type.Optional(Labels) },
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

function duration(key: DurationKey, example: string, description: string, defaultMs?: number) {
  const { minMs, maxMs } = durationLimits[key];
  // Zero needs no unit, and YAML reads it as a number.
  const forms = [Type.String({ pattern: durationPattern }), Type.Literal(0)];
  return Type.Optional(
    Type.Union(forms, {
      title: "duration",
      description: `${description} From ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
      examples: [example],
      ...(defaultMs === undefined ? {} : { default: formatDuration(defaultMs) }),
    }),
  );
}

function state(description: string, byDefault?: string) {
  return Type.Optional(
    Type.String({
      title: "state",
      pattern: statePattern,
      description,
      examples: ["free", "dirty"],
      ...(byDefault === undefined ? {} : { default: byDefault }),
    }),
  );
}

export const Pool = Type.Object(
  {
    count: Type.Optional(Count),
    members: Type.Optional(Members),
    ttl: duration(
      "ttl",
      "10m",
      "A lease that sends no heartbeat for so long has expired.",
      defaultPolicy.ttlMs,
    ),
    lifetime: duration(
      "lifetime",
      "4h",
      "No lease lasts longer than this, however alive its holder is. Without it there is no end.",
    ),
    hold: duration(
      "hold",
      "20m",
      "The server gives a claim back so long after its grant, while the rest of the lease goes " +
        "on. Without it a claim lasts as long as its lease.",
    ),
    cooldown: duration(
      "cooldown",
      "10s",
      "A resource rests so long after each use before it is lent again.",
      defaultPolicy.cooldownMs,
    ),
    lockDelay: duration(
      "lockDelay",
      "15s",
      "A resource taken from a holder that vanished rests so long: the holder may still be dying.",
      defaultPolicy.lockDelayMs,
    ),
    patience: duration(
      "patience",
      "10m",
      "For so long a request over several pools may be overtaken; then what comes free is kept " +
        "for it.",
      defaultPolicy.patienceMs,
    ),
    onRelease: state(
      "The state of a resource that was given back. Only free ones are lent.",
      defaultPolicy.onRelease,
    ),
    onExpire: state(
      "The state of a resource whose lease expired or was ended by an operator; the same as " +
        "onRelease unless it is written.",
    ),
  },
  {
    title: "pool",
    description: "A group of interchangeable resources with one policy.",
    additionalProperties: false,
    oneOf: [{ required: ["count"] }, { required: ["members"] }],
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
