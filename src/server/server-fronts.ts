/** What the workers that serve objects of API servers need of the rest of the server. */
import type { Broker } from "../broker/broker.ts";
import type { TemplateSpec } from "../config/template-spec.ts";
import type { PoolName } from "../core/model/ids.ts";
import { parametersOfItems } from "../http/clusters/cluster-items.ts";
import type { TemplateInfo } from "../http/clusters/template-info.ts";
import { problemOf } from "../http/problems.ts";
import type { SecretStores } from "../vault/secret-stores.ts";
import type { FrontParts } from "../workers/fronts/front-run.ts";
import { installationMark } from "../workers/fronts/installation.ts";
import { templateInfo } from "./server-provisioner.ts";

interface Parts {
  readonly broker: Broker;
  readonly vault: SecretStores;
  readonly templates: () => readonly TemplateSpec[];
  /** Of the journal. */
  readonly secret: string;
}

export function frontParts({ broker, vault, templates, secret }: Parts): FrontParts {
  const infos = (): readonly TemplateInfo[] => templates().map(templateInfo);
  const templateOf = async (pool: string): Promise<TemplateInfo | undefined> => {
    const name = await broker.read(
      ({ pools }) => pools.get(pool as PoolName)?.policy.cluster?.template,
    );
    return infos().find((each) => each.name === name);
  };
  return {
    installation: installationMark(secret),
    async resolve(space, { pool, parameters }) {
      const typed = typedParameters(await templateOf(pool), parameters);
      const item = { pool, ...(Object.keys(typed).length > 0 && { parameters: typed }) };
      const found = await parametersOfItems({ broker, vault, templates: infos }, space, [item]);
      return found?.[0];
    },
    access: (instance) => vault.access.open(instance),
    explain: (refusal) => {
      const { message, hint } = problemOf(refusal);
      return `${message}. ${hint}`;
    },
    templateOf,
  };
}

/** Objects have texts only. A text that is not of the type of its parameter is refused later. */
function typedParameters(
  template: TemplateInfo | undefined,
  parameters: Readonly<Record<string, string>>,
): Record<string, string | number | boolean> {
  const typed = Object.entries(parameters).map(([name, text]) => {
    const known = template !== undefined && Object.hasOwn(template.parameters, name);
    const schema = known ? template.parameters[name] : undefined;
    return [name, typedValue(schema, text)] as const;
  });
  return Object.fromEntries(typed);
}

function typedValue(schema: object | undefined, text: string): string | number | boolean {
  const { type, enum: choices } = Object(schema) as { type?: string; enum?: readonly unknown[] };
  const choice = choices?.find((each) => String(each) === text);
  if (typeof choice === "number" || typeof choice === "boolean") return choice;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  const isNumber = type === "integer" || type === "number";
  return isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}
