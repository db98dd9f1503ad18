import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "../client/errors.ts";
import { roughDuration } from "../core/model/duration.ts";

/** There was no answer from the Kubernetes API server. */
export class ApiUnreachable extends BerthUnreachable {
  override readonly hint: string =
    "Check the kubeconfig and its context, and that the cluster runs";
}

/** Nobody has said which cluster is meant. */
export class NoKubeConfig extends Error {
  override readonly name = "NoKubeConfig";
  readonly hint = "Set KUBECONFIG or pass --kubeconfig FILE; in a pod, give it a service account";

  constructor(state: string, cause?: unknown) {
    super(`Cannot use a kubeconfig: ${state}`, { cause });
  }
}

/** The time to wait was over first. The ticket has left the line. */
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

/** What the API server's Status says, as a Problem that names its reason in its code. */
export function refusalOf(httpStatus: number, body: unknown, retryAfterSeconds: number): Problem {
  const { reason, message, about } = statusOf(body);
  const words = (reason ?? (httpStatus >= 500 ? "unavailable" : "unexpected_reply"))
    .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase();
  // A server that is starting, or whose etcd has no leader, says 500; it passes by itself.
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
  /** The object that it speaks of, if it speaks of one. */
  readonly about?: string;
}

function statusOf(body: unknown): StatusFacts {
  const said = text(body, "message");
  const reason = text(body, "reason");
  const details = isObject(body) ? body["details"] : undefined;
  // A namespace that is missing is no news of what was asked for in it.
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

/** The slot is in other hands, or was deleted. */
export function isLost(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "lease_ended";
}

export function isDenied(error: unknown): error is Problem {
  return error instanceof Problem && (error.status === 401 || error.status === 403);
}

/** Somebody else was faster: the object is there already, or is no longer as it was read. */
export function isConflict(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 409;
}

/** The API server's own word on an object; the 404 of a proxy, or of a path, proves nothing. */
export function isNotFound(error: unknown): error is Problem {
  if (!(error instanceof Problem) || error.code !== "kubernetes_not_found") return false;
  return error.facts["about"] !== undefined;
}
