/** Whom the hub takes this process for, as the subject of a role. */
import { DriverError } from "../driver.ts";
import type { HubApi } from "./hub-api.ts";

interface Review {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

export interface Subject {
  readonly kind: "ServiceAccount" | "User";
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

/** Empty if the hub cannot say it, as hubs before Kubernetes 1.28. */
export async function whoAmI(hub: HubApi, signal?: AbortSignal): Promise<readonly Subject[]> {
  const path = ["apis", "authentication.k8s.io", "v1", "selfsubjectreviews"];
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  try {
    const { status } = await hub.call<Review>({ method: "POST", path, body, signal });
    return subjectOf(status?.userInfo?.username);
  } catch (error) {
    if (error instanceof DriverError) return [];
    throw error;
  }
}

function subjectOf(username: string | undefined): readonly Subject[] {
  if (username === undefined) return [];
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  if (namespace === undefined || name === undefined) {
    return [{ kind: "User", name: username, apiGroup: "rbac.authorization.k8s.io" }];
  }
  return [{ kind: "ServiceAccount", namespace, name }];
}
