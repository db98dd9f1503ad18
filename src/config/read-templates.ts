/** How templates are read: what makes clusters, and within which limits. */
import { isMap } from "yaml";
import { defaultPhaseLimits, type PhaseLimits } from "../core/model/cluster.ts";
import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, quote, readText, refuseValue, type Spot } from "./document.ts";
import { innerDurationLimits, janitorVariablesMax, templateLimits } from "./limits.ts";
import { warnOfMisread } from "./misread-numbers.ts";
import type { KnownTemplates } from "./read-cluster-pool.ts";
import { readCredentials } from "./read-credentials.ts";
import { readExpiry, readHub } from "./read-hub.ts";
import { chooseHubs, type HubPlace } from "./read-hubs.ts";
import { readProgram } from "./read-janitor.ts";
import { checkManifest } from "./read-manifest.ts";
import { readCluster, textOf } from "./read-mirror.ts";
import { readParameterSchemas, readParameterValues } from "./read-parameters.ts";
import {
  type Entry,
  optionalNumber,
  readDuration,
  readKnown,
  readNamed,
  scalarOf,
} from "./read-values.ts";
import { revisionOf } from "./revision.ts";
import { defaultCallTimeoutMs, driverNames, Limits, Template } from "./schema-templates.ts";
import type {
  CommandTemplate,
  DriverTemplate,
  EnvSource,
  NamespaceTemplate,
  TemplateSpec,
} from "./template-spec.ts";
import {
  nameKind,
  prefixKind,
  quotaKeyKind,
  quotaTextKind,
  variableNameKind,
  wordKind,
} from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;

const expected = {
  title: "template",
  hint: "write { driver: command, command: [./driver.sh] }",
};
const templates = {
  title: "map of templates",
  hint: "write { small: { driver: command, command: [./driver.sh] } }",
  names: nameKind,
  max: templateLimits.templatesMax,
  of: "templates",
};
const keys = Object.keys(Template.properties);
const hubs = ["hive", "hypershift", "caas", "cluster-api"] as const;
/** The keys that not all drivers have. */
const driversOfKey: Readonly<Record<string, readonly DriverTemplate["driver"][]>> = {
  ...{ command: ["command"], env: ["command"], timeout: ["command"] },
  validates: ["command"],
  hibernates: ["command", "hive"],
  ...{ kubeconfig: ["namespace", ...hubs], context: ["namespace", ...hubs], quota: ["namespace"] },
  hubs: ["namespace", ...hubs],
  ...{ namespace: hubs, pools: ["hive"] },
  ...{ broker: ["namespace", ...hubs], expiry: ["namespace", ...hubs] },
  manifest: ["hive", "hypershift", "cluster-api"],
  ...{ clusterTemplate: ["caas"], argoNamespace: ["caas"] },
};

export function readTemplates(
  document: ConfigDocument,
  field: Entry | undefined,
  known: readonly HubPlace[] = [],
): KnownTemplates {
  const entries = field === undefined ? [] : readNamed(document, field, templates);
  return new Map(entries.map((entry) => [entry.key, readTemplate(document, entry, known)]));
}

function readTemplate(
  document: ConfigDocument,
  { key: name, value }: Entry,
  known: readonly HubPlace[],
): TemplateSpec | undefined {
  const fields = readKnown(document, value, keys, expected);
  if (fields === undefined) return undefined;
  const how = readDriver(document, value, fields);
  const pinned = readParameterValues(document, fields.get("pinned"));
  const parameters = readParameterSchemas(document, fields.get("parameters"));
  for (const [key, [, at]] of pinned) {
    warnOfMisread(document.source, at);
    if (key in parameters) {
      document.source.refuse(at, "it stands among the parameters as well", "keep one of them");
    }
  }
  if (how === undefined) return undefined;
  refuseQuotaNames(document, fields, how);
  const orphans = readChoice(document, fields, "orphans", ["report", "destroy"]);
  const spec = {
    name,
    how,
    ...readHubChoice(document, fields, known),
    parameters,
    pinned: Object.fromEntries(Array.from(pinned, ([key, [scalar]]) => [key, scalar])),
    credentials: readCredentials(document, fields.get("credentials")),
    ownCredentials: textOf(document, fields, "ownCredentials", nameKind) ?? null,
    cost:
      optionalNumber(document, fields.get("cost"), { min: 0, max: templateLimits.costMax }) ?? 0,
    limits: readLimits(document, fields.get("limits")),
    hibernates: readHibernates(document, fields, how),
    validates: how.driver === "command" && (readBoolean(document, fields, "validates") ?? false),
    orphans: orphans ?? "report",
    ...readVerify(document, fields),
  };
  checkManifest(document, fields, spec);
  return { ...spec, revision: revisionOf(document.source, spec, fields) };
}

function readDriver(
  document: ConfigDocument,
  spot: Spot,
  fields: Fields,
): DriverTemplate | undefined {
  const { source } = document;
  if (!fields.has("driver")) {
    source.refuse(spot, "it has no driver", `add driver: ${oneOf(driverNames)}`);
    return undefined;
  }
  const driver = readChoice(document, fields, "driver", driverNames);
  if (driver === undefined) return undefined;
  for (const [key, drivers] of Object.entries(driversOfKey)) {
    const field = fields.get(key);
    if (field === undefined || drivers.includes(driver)) continue;
    const only = drivers.length === 1 ? `the driver ${drivers[0]} has` : `${listed(drivers)} have`;
    source.refuse(field.at, `only ${only} it`, "remove it, or change the driver");
  }
  switch (driver) {
    case "command":
      return readCommand(document, spot, fields);
    case "namespace":
      return readNamespace(document, fields);
    default:
      return readHub(document, spot, fields, driver);
  }
}

function listed(drivers: readonly string[]): string {
  return `the drivers ${drivers.slice(0, -1).join(", ")} and ${drivers.at(-1)}`;
}

function readCommand(document: ConfigDocument, spot: Spot, fields: Fields): CommandTemplate {
  const timeout = fields.get("timeout");
  const timeoutMs =
    timeout && readDuration(document.source, timeout.value, innerDurationLimits.timeout);
  return {
    driver: "command",
    command: readProgram(
      document,
      { owner: spot, example: "[./driver.sh]" },
      fields.get("command"),
    ),
    folder: document.source.programs?.pathOf(".") ?? ".",
    env: readEnv(document, fields.get("env")),
    timeoutMs: timeoutMs ?? defaultCallTimeoutMs,
  };
}

const variables = {
  title: "map of variables",
  hint: "write { REGION: eu-west-1 }",
  names: variableNameKind,
  max: janitorVariablesMax,
  of: "variables",
};
const fromExpected = { title: "variable", hint: "write text, or { env: NAME }" };

function readEnv(document: ConfigDocument, field: Entry | undefined): CommandTemplate["env"] {
  if (field === undefined) return {};
  const found = readNamed(document, field, variables).flatMap(({ key, value }) => {
    const source = readEnvSource(document, value);
    return source === undefined ? [] : [[key, source] as const];
  });
  return Object.fromEntries(found);
}

function readEnvSource(document: ConfigDocument, spot: Spot): EnvSource | undefined {
  if (!isMap(spot.node)) return readText(document.source, spot, wordKind);
  const from = readKnown(document, spot, ["env"], fromExpected)?.get("env");
  if (from === undefined) {
    document.source.refuse(spot, "it does not say where its text is from", "add env: and a name");
    return undefined;
  }
  const env = readText(document.source, from.value, variableNameKind);
  return env === undefined ? undefined : { env };
}

const quota = {
  title: "quota",
  hint: 'write { pods: 20, requests.cpu: "4" }',
  names: quotaKeyKind,
  max: templateLimits.parametersMax,
  of: "resources",
};

function readNamespace(document: ConfigDocument, fields: Fields): NamespaceTemplate {
  const field = fields.get("quota");
  const found = (field === undefined ? [] : readNamed(document, field, quota)).flatMap(
    ({ key, value }) => {
      const scalar = scalarOf(value);
      if (typeof scalar === "number" && scalar >= 0) return [[key, String(scalar)] as const];
      const text = readText(document.source, value, quotaTextKind);
      return text === undefined ? [] : [[key, text] as const];
    },
  );
  const broker = textOf(document, fields, "broker", prefixKind);
  return {
    driver: "namespace",
    ...readCluster(document, fields),
    ...(broker === undefined ? undefined : { broker }),
    ...readExpiry(document, fields),
    quota: Object.fromEntries(found),
  };
}

/** The parameters of a namespace are its quota; nothing else of it can differ. */
function refuseQuotaNames(document: ConfigDocument, fields: Fields, how: DriverTemplate): void {
  if (how.driver !== "namespace") return;
  for (const key of ["parameters", "pinned"]) {
    const field = fields.get(key);
    if (field === undefined || !isMap(field.value.node)) continue;
    for (const { key: written } of field.value.node.items) {
      const name = String(written);
      if (name in how.quota) continue;
      const state = `a namespace can differ only in its quota, which has no ${quote(name)}`;
      document.source.refuse(field.value, state, `add ${name} to quota, or remove it`);
    }
  }
}

function readHibernates(document: ConfigDocument, fields: Fields, how: DriverTemplate): boolean {
  const written = readBoolean(document, fields, "hibernates");
  if (how.driver === "hive") return written ?? true;
  return how.driver === "command" && (written ?? false);
}

function readVerify(document: ConfigDocument, fields: Fields): Pick<TemplateSpec, "verify"> {
  const field = fields.get("verify");
  if (field === undefined) return {};
  const command = readProgram(document, { owner: field.value, example: "[./left.sh]" }, field);
  return { verify: { command, folder: document.source.programs?.pathOf(".") ?? "." } };
}

/** A template has hubs, or an API server of its own. */
function readHubChoice(
  document: ConfigDocument,
  fields: Fields,
  known: readonly HubPlace[],
): Pick<TemplateSpec, "hubs"> {
  const field = fields.get("hubs");
  if (field === undefined) return {};
  for (const key of ["kubeconfig", "context"]) {
    const other = fields.get(key);
    if (other === undefined) continue;
    document.source.refuse(other.at, "the template has hubs, which have their own", "remove it");
  }
  return { hubs: chooseHubs(document, field, known) };
}

function oneOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

function readLimits(document: ConfigDocument, field: Entry | undefined): PhaseLimits {
  const hint = { title: "map of limits", hint: "write { create: 1h }" };
  const fields = field && readKnown(document, field.value, Object.keys(Limits.properties), hint);
  const read = (key: string, usualMs: number): number => {
    const entry = fields?.get(key);
    const ms = entry && readDuration(document.source, entry.value, innerDurationLimits.phase);
    return ms ?? usualMs;
  };
  return {
    createMs: read("create", defaultPhaseLimits.createMs),
    resumeMs: read("resume", defaultPhaseLimits.resumeMs),
    stopMs: read("stop", defaultPhaseLimits.stopMs),
    destroyMs: read("destroy", defaultPhaseLimits.destroyMs),
  };
}

function readBoolean({ source }: ConfigDocument, fields: Fields, key: string): boolean | undefined {
  const field = fields.get(key);
  const value = field && scalarOf(field.value);
  if (field === undefined || typeof value === "boolean") return value as boolean | undefined;
  refuseValue(source, field.value, { title: "boolean", hint: "write true or false" });
  return undefined;
}

function readChoice<Choice extends string>(
  { source }: ConfigDocument,
  fields: Fields,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const field = fields.get(key);
  if (field === undefined) return undefined;
  const value = scalarOf(field.value);
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) {
    const meant = typeof value === "string" ? nearest(value, choices) : undefined;
    const all = `write ${oneOf(choices)}`;
    const hint = meant === undefined ? all : `did you mean ${meant}? Otherwise ${all}`;
    refuseValue(source, field.value, { title: key, hint });
  }
  return chosen;
}
