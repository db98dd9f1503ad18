/** Items of a request for pools of clusters: their parameters are checked before anything else. */
import { Problem } from "../../api/problem.ts";
import type { AskBody } from "../../api/schemas.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  type ClusterPolicy,
  credentialsParameter,
  type Parameters,
} from "../../core/model/cluster.ts";
import type { Ask } from "../../core/model/command.ts";
import type { PoolName } from "../../core/model/ids.ts";
import { freeState } from "../../core/model/lifecycle.ts";
import type { State } from "../../core/model/state.ts";
import { writeRef } from "../../vault/space-credentials.ts";
import type { Context } from "../context.ts";
import { resolveParameters } from "./parameters.ts";
import type { TemplateInfo } from "./template-info.ts";
import { opened } from "./vault-problems.ts";

type AskedItem = AskBody["items"][number];

/** What checking an item needs: also for edges without a server. */
type Books = Pick<Context, "broker" | "templates" | "vault">;

/** The resolved parameters of each item; undefined: those of the clusters that the pool keeps. */
export function parametersOfItems(
  context: Books,
  space: string,
  items: readonly AskedItem[],
): Promise<readonly (Parameters | undefined)[]> | undefined {
  const isPlain = ({ parameters, credentials }: AskedItem) =>
    parameters === undefined && credentials === undefined;
  // Nearly every request is for other pools: it must not wait for anything here.
  if (context.templates().length === 0 && items.every(isPlain)) return undefined;
  return Promise.all(items.map((item) => parametersOf(context, space, item)));
}

/** The same for clients that cannot send parameters: their space's own credentials, where needed. */
export async function withOwnCredentials(
  context: Books,
  { space }: Principal,
  ask: Ask,
): Promise<Ask> {
  const asked = ask.items.map(({ pool, state }) => ({
    pool,
    ...(state === undefined ? undefined : { state }),
  }));
  const found = await parametersOfItems(context, space ?? "", asked);
  if (found === undefined) return ask;
  const items = ask.items.map((item, index) => {
    const parameters = found[index];
    return parameters === undefined ? item : { ...item, parameters };
  });
  return { ...ask, items };
}

async function parametersOf(
  context: Books,
  space: string,
  item: AskedItem,
): Promise<Parameters | undefined> {
  const pools = item.anyOf ?? (item.pool === undefined ? [] : [item.pool]);
  const found = await context.broker.read((state) => pools.map((pool) => policyOf(state, pool)));
  const asked = { ...item.parameters };
  const resolved: (Parameters | undefined)[] = [];
  for (const [index, policy] of found.entries()) {
    const pool = pools[index] ?? "";
    resolved.push(await forPool(context, { space, item, pool, policy, asked }));
  }
  const [first, ...others] = resolved;
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    throw differentClusters(pools);
  }
  return first;
}

interface AskedOfPool {
  readonly space: string;
  readonly item: AskedItem;
  readonly pool: string;
  readonly policy: ClusterPolicy | undefined;
  readonly asked: Parameters;
}

async function forPool(context: Books, ask: AskedOfPool): Promise<Parameters | undefined> {
  const { space, item, pool, policy, asked } = ask;
  const { credentials, state } = item;
  const wantsNothing = item.parameters === undefined && credentials === undefined;
  if (policy === undefined) {
    if (wantsNothing) return undefined;
    if (credentials !== undefined) throw noTemplate(pool);
    return asked; // The core refuses parameters of a pool without a template.
  }
  if ((state ?? freeState) !== freeState && wantsNothing) return undefined; // A worker.
  const template = context.templates().find(({ name }) => name === policy.template);
  if (template === undefined) throw templateGone(pool, policy.template);
  const own = await credentialsFor(context, { space, pool, template, name: credentials });
  if (own === undefined && item.parameters === undefined) return undefined;
  const parameters = resolveParameters({
    pool,
    template,
    defaults: policy.parameters,
    parameters: asked,
  });
  return own === undefined ? parameters : { ...parameters, [credentialsParameter]: own };
}

interface WantedCredentials {
  readonly space: string;
  readonly pool: string;
  readonly template: TemplateInfo;
  readonly name: string | undefined;
}

/** The reference to the present version; undefined: the template has credentials of its own. */
async function credentialsFor(
  context: Books,
  { space, pool, template, name }: WantedCredentials,
): Promise<string | undefined> {
  const { ownCredentials } = template;
  if (ownCredentials === null && name === undefined) return undefined;
  if (ownCredentials === null) throw sharedCredentials(pool, template);
  const wanted = name ?? ownCredentials;
  const ref = await opened(context.vault.credentials.current(space, wanted));
  if (ref === undefined) throw credentialsMissing(pool, template, wanted);
  return writeRef(ref);
}

function policyOf(state: State, pool: string): ClusterPolicy | undefined {
  return state.pools.get(pool as PoolName)?.policy.cluster;
}

function no(code: string, message: string, hint: string, facts: object): Problem {
  return new Problem({ code, status: 422, message, hint, facts: { ...facts } });
}

function noTemplate(pool: string): Problem {
  const message = `Cannot use credentials for ${pool}: it has no template`;
  return no("credentials_not_allowed", message, "Remove credentials", { pool });
}

function sharedCredentials(pool: string, { name }: TemplateInfo): Problem {
  const message = `Cannot use credentials of your space for ${pool}: the template ${name} has its own`;
  return no("credentials_not_allowed", message, "Remove credentials", {
    pool,
    template: name,
  });
}

function credentialsMissing(pool: string, { name }: TemplateInfo, wanted: string): Problem {
  const message = `Cannot make a cluster of ${pool}: your space has no credentials "${wanted}", which the template ${name} needs`;
  const hint = `Store them with PUT /v1/credentials/${wanted}: berth credentials put ${wanted} VARIABLE…`;
  return no("credentials_needed", message, hint, { pool, template: name, credentials: wanted });
}

function templateGone(pool: string, template: string): Problem {
  const message = `Cannot make a cluster of ${pool}: the configuration has no template ${template}`;
  return no("template_not_found", message, "Ask an operator to check the configuration", {
    ...{ pool, template },
  });
}

function differentClusters(pools: readonly string[]): Problem {
  const message = `Cannot take any of ${pools.join(", ")}: their parameters differ`;
  return no("parameter_invalid", message, "Send all parameters that differ, or name one pool", {
    pools,
  });
}
