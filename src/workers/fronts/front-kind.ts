/** What is special about a kind of object that Berth serves. Everything else is the same for all of them. */
import type { Condition } from "../../drivers/hub/conditions.ts";
import type { Kind } from "../../drivers/hub/kind.ts";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";

/** An object in a namespace of a tenant, whatever it contains: its author is not trusted. */
export interface FrontObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly Condition[];
  };
}

/** What an object asks for. */
export interface Wanted {
  readonly pool: string;
  /** As text; the template says which types they have. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Why it can never be served. */
export interface Unservable {
  readonly refused: string;
}

/** How far the request of an object is. */
export type Situation =
  | { readonly is: "held-back"; readonly message: string }
  | {
      readonly is: "waiting";
      readonly message: string;
      /** A cluster is being made for it. */
      readonly making: boolean;
    }
  /** It is granted, and its access is being made, or cannot be handed over. */
  | { readonly is: "handing-over"; readonly message: string; readonly failed: boolean }
  | { readonly is: "ready"; readonly apiUrl: string; readonly access: Access }
  | { readonly is: "failed"; readonly message: string }
  | { readonly is: "destroying"; readonly message: string };

export interface Access {
  readonly kubeconfig: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** When it ends, unless it is renewed. */
  readonly expiresAt?: string | undefined;
}

export interface SecretContent {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

export interface FrontKind {
  readonly kind: Kind;
  wants(object: FrontObject): Wanted | Unservable;
  /** The Secrets with the access, in the namespace of the object. */
  secrets(object: FrontObject, access: Access): readonly SecretContent[];
  /** Whether those who may use such objects get a role that reads just these Secrets. */
  readonly readers?: string;
  /** The status for this situation: never less than what the object has reached already. */
  status(object: FrontObject, situation: Situation, at: string): object;
}
