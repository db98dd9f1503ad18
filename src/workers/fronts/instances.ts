/** ClusterTemplateInstances, as the operator of cluster templates serves them, without its flaws. */
import { instanceKind } from "../../drivers/caas/objects.ts";
import {
  fieldIn,
  nameTooLong,
  objectNameMax,
  shortened,
  textIn,
  type Wanted as WantedCondition,
  withConditions,
} from "./conditions.ts";
import type { FrontKind, FrontObject, Situation, Unservable, Wanted } from "./front-kind.ts";

/** In the order in which an instance goes through them; it never goes back. */
const phases = ["Pending", "ClusterInstalling", "CredentialsFailed", "Ready", "Failed"];
export const readersRole = "cluster-templates-user";
const parametersMax = 64;
/** The RoleBinding has the longest name of what is made beside it. */
const nameMax = objectNameMax - "-rolebinding-managed".length;

export class InstanceFront implements FrontKind {
  readonly kind = instanceKind;
  readonly readers = readersRole;
  readonly #pools: ReadonlyMap<string, string>;

  constructor(pools: ReadonlyMap<string, string>) {
    this.#pools = pools;
  }

  wants({ spec, metadata }: FrontObject): Wanted | Unservable {
    if (metadata.name.length > nameMax) return { refused: nameTooLong(nameMax) };
    if (fieldIn(spec, "kubeconfigSecretRef") !== undefined) {
      const hint = "Berth makes clusters, and sets up none that exist already";
      return { refused: `Cannot use kubeconfigSecretRef: ${hint}` };
    }
    const template = templateOf(spec);
    const pool = this.#pools.get(template);
    if (pool === undefined) {
      const known = [...this.#pools.keys()].join(", ");
      return {
        refused: `Cannot find the ClusterTemplate "${shortened(template, 253)}": use ${known}`,
      };
    }
    const parameters = parametersOf(spec);
    return typeof parameters === "string" ? { refused: parameters } : { pool, parameters };
  }

  secrets({ metadata: { name } }: FrontObject, access: Parameters<FrontKind["secrets"]>[1]) {
    const { kubeconfig, username = "kubeadmin", password } = access;
    return [
      { name: `${name}-admin-kubeconfig`, data: { kubeconfig } },
      ...(password === undefined
        ? []
        : [{ name: `${name}-admin-password`, data: { username, password } }]),
    ];
  }

  status(object: FrontObject, situation: Situation, at: string): object {
    const reached = textIn(object.status, "phase") ?? "";
    if (situation.is === "destroying") return { message: shortened(situation.message) };
    const wanted = phaseOf(situation);
    const isBack = phases.indexOf(wanted) < phases.indexOf(reached);
    const phase = isBack ? reached : wanted;
    const message = situation.is === "ready" ? "" : shortened(situation.message);
    // What is over is not told again as if it were still to come.
    if (isBack && phase !== "ClusterInstalling") return {};
    const conditions = withConditions(object, conditionsFor(phase, message), at);
    return { phase, message, conditions, ...this.#addresses(object, situation) };
  }

  #addresses(object: FrontObject, situation: Situation): object {
    if (situation.is !== "ready") return {};
    const [kubeconfig, password] = this.secrets(object, situation.access);
    return {
      apiServerURL: situation.apiUrl,
      kubeconfig: { name: kubeconfig?.name },
      ...(password && { adminPassword: { name: password.name } }),
    };
  }
}

export function templateOf(spec: unknown): string {
  return textIn(spec, "clusterTemplateRef") ?? "";
}

/** The parameters, or what is wrong with them. */
function parametersOf(spec: unknown): Readonly<Record<string, string>> | string {
  const list = fieldIn(spec, "parameters") ?? [];
  if (!Array.isArray(list)) return "Cannot use the parameters: they are not a list";
  if (list.length > parametersMax) return `Cannot use more than ${parametersMax} parameters`;
  const found = new Map<string, string>();
  for (const each of list) {
    const [name, value] = [textIn(each, "name"), textIn(each, "value")];
    if (name === undefined || value === undefined) {
      return "Cannot use the parameters: each needs a name and a value, both texts";
    }
    const shown = shortened(name, 63);
    if (fieldIn(each, "clusterSetup") !== undefined) {
      return `Cannot use the parameter "${shown}": Berth's templates have no cluster setup`;
    }
    if (found.has(name)) return `Cannot use the parameter "${shown}": it is there twice`;
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

function phaseOf(situation: Exclude<Situation, { is: "destroying" }>): string {
  switch (situation.is) {
    case "held-back":
      return "Pending";
    case "waiting":
      return situation.making ? "ClusterInstalling" : "Pending";
    case "handing-over":
      return situation.failed ? "CredentialsFailed" : "ClusterInstalling";
    case "ready":
      return "Ready";
    case "failed":
      return "Failed";
  }
}

function conditionsFor(phase: string, message: string): readonly WantedCondition[] {
  const at = phases.indexOf(phase);
  const isFailed = phase === "Failed";
  const ready: WantedCondition = {
    type: "Ready",
    status: phase === "Ready" ? "True" : "False",
    reason: phase === "Ready" ? "ClusterReady" : isFailed ? "Failed" : phase,
    message,
  };
  if (isFailed) return [ready];
  const hasBegun = at >= phases.indexOf("ClusterInstalling");
  const isInstalled = at > phases.indexOf("ClusterInstalling");
  return [
    ...(hasBegun ? [yes("ClusterDefinitionCreated", "ApplicationCreated")] : []),
    isInstalled
      ? yes("ClusterInstallSucceeded", "ClusterInstalled")
      : {
          ...{ type: "ClusterInstallSucceeded", status: "False", message },
          reason: hasBegun ? "ClusterInstalling" : "ClusterDefinitionNotCreated",
        },
    ready,
  ];
}

function yes(type: string, reason: string): WantedCondition {
  return { type, status: "True", reason };
}
