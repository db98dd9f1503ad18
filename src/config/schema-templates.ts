/** Templates: how clusters are made. */
import Type from "typebox";
import { defaultPhaseLimits } from "../core/model/cluster.ts";
import {
  innerDurationLimits,
  janitorVariablesMax,
  janitorWordsMax,
  templateLimits,
} from "./limits.ts";
import { duration, Name } from "./schema-fields.ts";
import { HubChoice } from "./schema-hubs.ts";
import { VariableName, Word } from "./schema-janitor.ts";
import {
  clusterFields,
  FilePath,
  KubeLabelKey,
  KubeLabelValue,
  MirrorPrefix,
  Namespace,
} from "./schema-mirror.ts";

export const driverNames = [
  ...(["command", "namespace", "hive", "hypershift", "caas", "cluster-api"] as const),
];
export const defaultBroker = "berth";
/** Where the operator of cluster templates has its Argo CD, unless it is told otherwise. */
export const defaultArgoNamespace = "cluster-aas-operator";
export const defaultCallTimeoutMs = 5 * 60_000;

export const ParameterName = Type.String({
  title: "parameter name",
  pattern: "^[A-Za-z][A-Za-z0-9._/-]{0,62}$",
});

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  title: "text, number or boolean",
});

/** The keywords of JSON Schema that a single value needs. */
export const Parameter = Type.Object(
  {
    type: Type.Optional(
      Type.Union(
        (["string", "integer", "number", "boolean"] as const).map((type) => Type.Literal(type)),
        { description: "The kind of value." },
      ),
    ),
    enum: Type.Optional(
      Type.Array(Scalar, { description: "All allowed values.", minItems: 1, maxItems: 1_000 }),
    ),
    minimum: Type.Optional(Type.Number({ description: "The smallest number." })),
    maximum: Type.Optional(Type.Number({ description: "The largest number." })),
    multipleOf: Type.Optional(
      Type.Number({ description: "The number is a multiple of this.", exclusiveMinimum: 0 }),
    ),
    minLength: Type.Optional(Type.Integer({ description: "Of a text.", minimum: 0 })),
    maxLength: Type.Optional(Type.Integer({ description: "Of a text.", minimum: 0 })),
    pattern: Type.Optional(
      Type.String({ description: "A regular expression for a text.", maxLength: 500 }),
    ),
    default: Type.Optional({ ...Scalar, description: "The value of requests that set none." }),
    title: Type.Optional(Type.String({ description: "For people." })),
    description: Type.Optional(Type.String({ description: "For people." })),
  },
  {
    title: "parameter",
    description: "What its value must be, as a JSON Schema.",
    additionalProperties: false,
    examples: [{ enum: ["4.19", "4.20"], default: "4.20" }],
  },
);

export const ParameterValues = Type.Record(ParameterName, Scalar, {
  title: "map of values",
  additionalProperties: false,
  maxProperties: templateLimits.parametersMax,
  examples: [{ region: "us-east-1" }],
});

export const KubeSecret = Type.String({
  title: "name of a Secret",
  description: "NAMESPACE/NAME of a Secret of Kubernetes.",
  pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
  examples: ["berth/aws"],
});

export const SecretKey = Type.String({
  title: "key of a Secret",
  description: "Of the Secret.",
  pattern: "^[-._a-zA-Z0-9]{1,253}$",
});

export const Credential = Type.Object(
  {
    file: Type.Optional(Type.String({ ...FilePath, description: "A file; relative to this one." })),
    env: Type.Optional(
      Type.String({ ...VariableName, description: "A variable of the provisioner." }),
    ),
    secret: Type.Optional(KubeSecret),
    key: Type.Optional(SecretKey),
    kubeconfig: clusterFields.kubeconfig,
  },
  {
    title: "credential",
    description: "Where the provisioner finds the secret: file, env, or secret with key.",
    additionalProperties: false,
    examples: [{ file: "aws.ini" }],
  },
);

const limit = (ms: number, what: string) =>
  Type.Optional(
    duration(innerDurationLimits.phase, {
      example: "1h",
      description: `A cluster that ${what} longer is broken.`,
      defaultMs: ms,
    }),
  );

export const Limits = Type.Object(
  {
    create: limit(defaultPhaseLimits.createMs, "is created for"),
    resume: limit(defaultPhaseLimits.resumeMs, "resumes for"),
    stop: limit(defaultPhaseLimits.stopMs, "stops for"),
    destroy: Type.Optional(
      duration(innerDurationLimits.phase, {
        example: "1h",
        description: "A destruction that takes longer is shown as stuck, and goes on.",
        defaultMs: defaultPhaseLimits.destroyMs,
      }),
    ),
  },
  {
    title: "map of limits",
    description: "How long each phase may take.",
    additionalProperties: false,
  },
);

export const QuotaKey = Type.String({
  title: "quota key",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]{0,252}$",
});
export const QuotaText = Type.String({ title: "quantity", pattern: "^[0-9][0-9a-zA-Z.]{0,30}$" });

const FromEnvironment = Type.Object(
  { env: Type.String({ ...VariableName, description: "A variable of the provisioner." }) },
  { title: "variable", additionalProperties: false },
);

/** The keys of drivers that work on a hub. */
const hubFields = {
  namespace: Type.Optional(
    Type.String({
      ...Namespace,
      description:
        "Drivers on a hub: where the objects are made. Driver hive: that of the ClusterPools; a " +
        "manifest gets a namespace of its own for each cluster.",
      examples: ["clusters"],
    }),
  ),
  broker: Type.Optional(
    Type.String({
      ...MirrorPrefix,
      description:
        "Drivers on a hub, and namespace: the name of this installation of Berth there. Two on one hub need two names.",
      default: defaultBroker,
    }),
  ),
  expiry: Type.Optional(
    duration(innerDurationLimits.expiry, {
      example: "2d",
      description:
        "Drivers on a hub, and namespace: so long after its creation a cluster may be destroyed by others, as its " +
        "labels say. Hive then deletes a claim itself.",
    }),
  ),
  pools: Type.Optional(
    Type.Record(KubeLabelKey, KubeLabelValue, {
      title: "map of labels",
      description:
        "Driver hive: clusters are claimed from the ClusterPools with these labels, and with those " +
        "of the parameters.",
      additionalProperties: false,
      maxProperties: 32,
      examples: [{ product: "ocp", version: "4.20" }],
    }),
  ),
  manifest: Type.Optional(
    Type.String({
      ...FilePath,
      description:
        "Drivers hive, hypershift and cluster-api: a file with the objects to make for each cluster, " +
        "relative to this one. It is read again when it changes.",
      examples: ["hosted-cluster.yaml"],
    }),
  ),
  clusterTemplate: Type.Optional(
    Type.String({
      ...Name,
      description: "Driver caas: the ClusterTemplate. The parameters go to its chart.",
      examples: ["hypershift-aws-cluster"],
    }),
  ),
  argoNamespace: Type.Optional(
    Type.String({
      ...Namespace,
      description: "Driver caas: where the operator keeps its Argo CD Applications.",
      default: defaultArgoNamespace,
    }),
  ),
};

export const Template = Type.Object(
  {
    driver: Type.Union(
      driverNames.map((name) => Type.Literal(name)),
      {
        title: "driver",
        description:
          "What makes the clusters: a program, an API server that has namespaces, or a hub with Hive, " +
          "HyperShift, the operator of cluster templates or Cluster API.",
      },
    ),
    parameters: Type.Optional(
      Type.Record(ParameterName, Parameter, {
        title: "map of parameters",
        description: "What a request may set. The driver gets them with create.",
        additionalProperties: false,
        maxProperties: templateLimits.parametersMax,
      }),
    ),
    pinned: Type.Optional({
      ...ParameterValues,
      description: "Parameters that no request may set. Users see their names only.",
    }),
    credentials: Type.Optional(
      Type.Record(Name, Credential, {
        title: "map of credentials",
        description:
          "Secrets of the driver, by reference. Only the provisioner reads them; the program gets " +
          "them in a file of mode 0600, whose path is in BERTH_CREDENTIALS.",
        additionalProperties: false,
        maxProperties: templateLimits.credentialsMax,
      }),
    ),
    ownCredentials: Type.Optional(
      Type.String({
        ...Name,
        description: "The space of each request must have stored credentials of this name.",
        examples: ["aws"],
      }),
    ),
    cost: Type.Optional(
      Type.Number({
        title: "number",
        description: "What a cluster costs per hour, in your unit. Counted until it is destroyed.",
        minimum: 0,
        maximum: templateLimits.costMax,
        default: 0,
      }),
    ),
    limits: Type.Optional(Limits),
    hibernates: Type.Optional(
      Type.Boolean({
        title: "boolean",
        description:
          "Drivers command and hive: whether clusters can hibernate. Without it those of hive do, and " +
          "those of a program do not.",
      }),
    ),
    validates: Type.Optional(
      Type.Boolean({
        title: "boolean",
        description:
          "Driver command: whether the program can try out credentials that a space stores.",
        default: false,
      }),
    ),
    orphans: Type.Optional(
      Type.Union([Type.Literal("report"), Type.Literal("destroy")], {
        title: "choice",
        description:
          "What happens to clusters that the driver lists and that Berth does not know, after half " +
          "an hour.",
        default: "report",
      }),
    ),
    command: Type.Optional(
      Type.Array(Word, {
        title: "list of words",
        description: "Driver command: the program, relative to this file, and its arguments.",
        minItems: 1,
        maxItems: janitorWordsMax,
        examples: [["./driver.sh"]],
      }),
    ),
    env: Type.Optional(
      Type.Record(VariableName, Type.Union([Word, FromEnvironment]), {
        title: "map of variables",
        description:
          "Driver command: the program's environment: text, or a variable of the provisioner. Not " +
          "for secrets.",
        additionalProperties: false,
        maxProperties: janitorVariablesMax,
        examples: [{ REGION: "eu-west-1" }],
      }),
    ),
    timeout: Type.Optional(
      duration(innerDurationLimits.timeout, {
        example: "5m",
        description: "Driver command: a call that takes longer is ended, and tried again.",
        defaultMs: defaultCallTimeoutMs,
      }),
    ),
    ...clusterFields,
    hubs: Type.Optional(HubChoice),
    quota: Type.Optional(
      Type.Record(QuotaKey, Type.Union([QuotaText, Type.Number({ minimum: 0 })]), {
        title: "quota",
        description: "Driver namespace: the ResourceQuota of each namespace.",
        additionalProperties: false,
        maxProperties: 100,
        examples: [{ pods: 20, "requests.cpu": "4" }],
      }),
    ),
    ...hubFields,
    verify: Type.Optional(
      Type.Array(Word, {
        title: "list of words",
        description:
          "A program that looks for what is left of a destroyed cluster. Until it finds nothing, the " +
          "cluster is not gone.",
        minItems: 1,
        maxItems: janitorWordsMax,
        examples: [["./left-in-cloud.sh"]],
      }),
    ),
  },
  {
    title: "template",
    description: "How clusters are made.",
    additionalProperties: false,
    examples: [{ driver: "command", command: ["./driver.sh"] }],
  },
);

export const Templates = Type.Record(Name, Template, {
  title: "map of templates",
  description: "How clusters are made: each template under its name. Pools refer to it.",
  additionalProperties: false,
  maxProperties: templateLimits.templatesMax,
});
