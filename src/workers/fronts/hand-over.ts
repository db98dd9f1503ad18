/** Gives the access to those who asked: Secrets in the namespace of the object, and who may read them. */
import { Hopeless } from "../../drivers/driver.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { apiVersionOf, type Kind, pathOf, secretKind } from "../../drivers/hub/kind.ts";
import { managedBy } from "../../drivers/hub/ownership.ts";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { FrontObject, SecretContent } from "./front-kind.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1", from: "Kubernetes" };
const roleKind: Kind = { ...rbac, kind: "Role", plural: "roles" };
const bindingKind: Kind = { ...rbac, kind: "RoleBinding", plural: "rolebindings" };

interface OwnedObject extends KubeObject {
  readonly metadata: KubeObject["metadata"] & {
    readonly ownerReferences?: readonly { readonly uid?: string }[];
  };
}

interface Secret extends OwnedObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly name?: string;
  readonly namespace?: string;
}

interface Binding extends OwnedObject {
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly Subject[];
}

interface Role extends OwnedObject {
  readonly rules?: readonly object[];
}

export class HandOver {
  readonly #hub: HubApi;
  readonly #kind: Kind;
  readonly #signal: AbortSignal;

  constructor(hub: HubApi, kind: Kind, signal: AbortSignal) {
    this.#hub = hub;
    this.#kind = kind;
    this.#signal = signal;
  }

  async secrets(owner: FrontObject, wanted: readonly SecretContent[]): Promise<void> {
    for (const { name, data } of wanted) {
      const encoded = Object.entries(data).map(([key, value]) => [key, base64(value)]);
      const content = { type: "Opaque", data: Object.fromEntries(encoded) };
      await this.#put<Secret>(secretKind, owner, name, content, (found) =>
        isSame(found.data, content.data),
      );
    }
  }

  /** The access is over, and so is what the object has of it. */
  async withdraw(owner: FrontObject, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const found = await this.#find<Secret>(secretKind, owner, name);
      if (found !== undefined && isOf(owner, found)) {
        await this.#hub.remove(secretKind, found, { signal: this.#signal });
      }
    }
  }

  /** Whoever has this ClusterRole in the namespace may read just these Secrets. */
  async readers(owner: FrontObject, role: string, secrets: readonly string[]): Promise<void> {
    const { name, namespace = "" } = owner.metadata;
    const verbs = ["get"];
    const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames: secrets, verbs }];
    await this.#put<Role>(roleKind, owner, `${name}-role-managed`, { rules }, (found) =>
      isSame(found.rules, rules),
    );
    const within = { namespace, signal: this.#signal };
    const bindings = await this.#hub.list<Binding>(bindingKind, within);
    const subjects = subjectsOf(bindings, role);
    const roleRef = { apiGroup: rbac.group, kind: "Role", name: `${name}-role-managed` };
    await this.#put<Binding>(
      ...([bindingKind, owner, `${name}-rolebinding-managed`, { roleRef, subjects }] as const),
      (found) => isSame(found.subjects ?? [], subjects),
    );
  }

  #find<Found extends KubeObject>(
    kind: Kind,
    { metadata }: FrontObject,
    name: string,
  ): Promise<Found | undefined> {
    const within = { namespace: metadata.namespace, signal: this.#signal };
    return this.#hub.find<Found>(kind, name, within);
  }

  /** Creates the object, or changes the one that this owner has already. */
  async #put<Found extends OwnedObject>(
    kind: Kind,
    owner: FrontObject,
    name: string,
    content: object,
    isRight: (found: Found) => boolean,
  ): Promise<void> {
    const { namespace } = owner.metadata;
    const found = await this.#find<Found>(kind, owner, name);
    const identity = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    if (found === undefined) {
      const metadata = { name, labels: managedBy, ownerReferences: [this.#reference(owner)] };
      const body = { ...identity, metadata, ...content };
      await this.#hub.create(kind, body, { namespace, signal: this.#signal });
      return;
    }
    if (!isOf(owner, found)) {
      const hint = "Delete it, or give your object another name";
      throw new Hopeless(`Cannot write the ${kind.kind} ${name}: it belongs to others. ${hint}`);
    }
    if (isRight(found)) return;
    const body = { ...identity, metadata: found.metadata, ...content };
    const path = pathOf(kind, namespace, name);
    await this.#hub.call({ method: "PUT", path, body, signal: this.#signal }, kind);
  }

  #reference({ metadata: { name, uid } }: FrontObject): object {
    const { kind } = this.#kind;
    return { apiVersion: apiVersionOf(this.#kind), kind, name, uid };
  }
}

/** The owner itself, and not one of its name that was there before. */
function isOf({ metadata: { uid } }: FrontObject, { metadata }: OwnedObject): boolean {
  return (metadata.ownerReferences ?? []).some((each) => each.uid === uid);
}

/** Each subject once. Two accounts of one name in two namespaces are two. */
export function subjectsOf(bindings: readonly Binding[], role: string): readonly Subject[] {
  const found = bindings
    .filter(({ roleRef }) => roleRef?.kind === "ClusterRole" && roleRef.name === role)
    .flatMap(({ subjects = [] }) => subjects);
  const byText = new Map(found.map((each) => [JSON.stringify(subjectKey(each)), each]));
  return [...byText.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, s]) => s);
}

function subjectKey({ kind, apiGroup, name, namespace }: Subject): readonly unknown[] {
  return [kind, apiGroup ?? "", name, namespace ?? ""];
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
