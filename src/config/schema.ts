import Type from "typebox";
import { policyFields } from "../core/model/policy-fields.ts";
import { userDataLimits } from "../core/model/user-data.ts";
import { roomFields } from "./capacity-schema.ts";
import { dependenciesOf, propertiesOf } from "./field-schemas.ts";
import {
  labelKeyLengthMax,
  labelsPerResourceMax,
  labelValueLengthMax,
  poolsMax,
  resourcesMax,
} from "./limits.ts";
import { Admission } from "./schema-admission.ts";
import { Auth } from "./schema-auth.ts";
import { Caas } from "./schema-caas.ts";
import { clusterPoolFields } from "./schema-cluster-pool.ts";
import { Name } from "./schema-fields.ts";
import { Hubs } from "./schema-hubs.ts";
import { Janitor } from "./schema-janitor.ts";
import { Mirror } from "./schema-mirror.ts";
import { Ageing, Priorities } from "./schema-priorities.ts";
import { Profiles } from "./schema-profiles.ts";
import { Space, Spaces } from "./schema-spaces.ts";
import { Templates } from "./schema-templates.ts";

/**
 * The configuration file as JSON Schema, for editors to complete and check against. The keys of a
 * policy come from the table of its fields.
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
  description: "What is known about the resource; its holder sees it.",
  additionalProperties: false,
  maxProperties: labelsPerResourceMax,
  examples: [{ region: "us-east-1" }],
});

export const UserData = Type.Record(
  Type.String({ pattern: `^[^\\x00-\\x1f\\x7f]{1,${userDataLimits.keyLengthMax}}$` }),
  Type.String({ maxLength: userDataLimits.valueLengthMax }),
  {
    title: "map of user data",
    description:
      "What only the holder sees, when the resource is added. Later changes of the file do not " +
      "change it; holders and operators can.",
    additionalProperties: false,
    maxProperties: userDataLimits.keysMax,
    examples: [{ "account-id": "123456789012" }],
  },
);

export const Member = Type.Object(
  { labels: Type.Optional(Labels), userData: Type.Optional(UserData), ...roomFields },
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
    ...clusterPoolFields,
    ...propertiesOf(policyFields, { janitor: Janitor, admission: Admission }),
  },
  {
    title: "pool",
    description: "A group of interchangeable resources with one policy.",
    additionalProperties: false,
    anyOf: ["count", "members", "dynamic", "limit", "template"].map((key) => ({ required: [key] })),
    not: { required: ["count", "members"] },
    dependencies: dependenciesOf(policyFields),
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
    hubs: Type.Optional(Hubs),
    templates: Type.Optional(Templates),
    profiles: Type.Optional(Profiles),
    mirror: Type.Optional(Mirror),
    caas: Type.Optional(Caas),
    auth: Type.Optional(Auth),
    priorities: Type.Optional(Priorities),
    ageing: Type.Optional(Ageing),
    spaces: Type.Optional(Spaces),
    spaceDefaults: Type.Optional(
      Type.Union([Space, Type.Null()], {
        description:
          "The policy of every space that is not listed. Without it, and with spaces, those are refused.",
      }),
    ),
  },
  {
    title: "Berth configuration",
    description: "What Berth lends, and how.",
    additionalProperties: false,
  },
);

/** For editors: what `berth.schema.json` holds, and what `# yaml-language-server:` points at. */
export function configJsonSchema(): object {
  return { $schema: "http://json-schema.org/draft-07/schema#", ...ConfigFile };
}
