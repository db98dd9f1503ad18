import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "../client/errors.ts";
import { roughDuration } from "../core/model/time.ts";

/** The Kubernetes API server did not answer. */
export class ApiUnreachable extends BerthUnreachable {
  override readonly hint: string =
    "Check the kubeconfig and its context, and that the cluster runs";
}

/** There is no kubeconfig, so the cluster is unknown. */
export class NoKubeConfig extends Error {
  override readonly name = "NoKubeConfig";
  readonly hint = "Set KUBECONFIG or pass --kubeconfig FILE; in a pod, give it a service account";

  constructor(state: string, cause?: unknown) {
    super(`Cannot use a kubeconfig: ${state}`, { cause });
  }
}

/** The timeout passed before a slot was free. The ticket has left the queue. */
export class NoSlotInTime extends Error {
  override readonly name = "NoSlotInTime";
  readonly hint =
    "Wait longer with --timeout or SLOT_TIMEOUT; see who holds them: berth slots status";

  constructor(waitedMs: number, reason: string) {
    super(`Cannot get a slot: none was free within ${roughDuration(waitedMs)}. ${reason}`);
  }
}

const hintByReason: Readonly<Record<string, string>> = {
  unauthorized: "Log in again, or renew the token in the kubeconfig",
  forbidden: "Give this account the Role that berth slots manifests prints",
  not_found: "Check --namespace, and that the cluster knows this kind of object",
};

/** Converts a Status of the API server to a Problem whose code contains the reason. */
export function refusalOf(httpStatus: number, body: unknown, retryAfterSeconds: number): Problem {
  const { reason, message, about } = statusOf(body);
  const words = (reason ?? (httpStatus >= 500 ? "unavailable" : "unexpected_reply"))
    .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase();
  // A server that is starting, or whose etcd has no leader, answers 500. This passes by itself.
  const status = httpStatus === 500 ? 503 : httpStatus;
  return new Problem({
    code: `kubernetes_${words}`,
    status,
    message: `Cannot use the Kubernetes API: ${message ?? `it answered with status ${httpStatus}`}`,
    hint: hintByReason[words] ?? "Try again; see the API server's log if it stays",
    facts: {
      ...(about === undefined ? undefined : { about }),
      ...(Number.isFinite(retryAfterSeconds) ? { retryAfterSeconds } : undefined),
    },
  });
}

interface StatusFacts {
  readonly reason?: string;
  readonly message?: string;
  /** The object that the error is about, if any. */
  readonly about?: string;
}

function statusOf(body: unknown): StatusFacts {
  const said = text(body, "message");
  const reason = text(body, "reason");
  const details = isObject(body) ? body["details"] : undefined;
  // A missing namespace does not prove that the object in it was deleted.
  const about = text(details, "kind") === "namespaces" ? undefined : text(details, "name");
  return {
    ...(reason === undefined ? undefined : { reason }),
    ...(said === undefined ? undefined : { message: said }),
    ...(about === undefined ? undefined : { about }),
  };
}

function text(from: unknown, key: string): string | undefined {
  const found = isObject(from) ? from[key] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The slot has another holder or was deleted. */
export function isLost(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "lease_ended";
}

export function isDenied(error: unknown): error is Problem {
  return error instanceof Problem && (error.status === 401 || error.status === 403);
}

/** Another writer was faster: the object already exists or has a newer version. */
export function isConflict(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 409;
}

/**
 * The API server itself reports that the object does not exist. A 404 of a proxy or for an unknown
 * path proves nothing.
 */
export function isNotFound(error: unknown): error is Problem {
  if (!(error instanceof Problem) || error.code !== "kubernetes_not_found") return false;
  return error.facts["about"] !== undefined;
}
