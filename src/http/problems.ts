/** The message of every refusal: what is wrong, with the value, and what to do now. */
import { Problem } from "../api/problem.ts";
import type { Refusal } from "../core/model/outcome.ts";
import { describeUserDataFault } from "../core/model/user-data.ts";
import { type ClusterRefusal, clusterProblem, isAboutClusters } from "./cluster-problems.ts";
import { isNotPlaced, type NotPlaced, notPlaced } from "./placement-problems.ts";
import { spaceProblem } from "./space-problems.ts";
import { timestamp } from "./timestamp.ts";

export function problemOf(refusal: Refusal): Problem {
  if (isAboutClusters(refusal)) return clusterProblem(refusal);
  return isNotPlaced(refusal) ? notPlaced(refusal) : otherProblem(refusal);
}

function otherProblem(refusal: Exclude<Refusal, NotPlaced | ClusterRefusal>): Problem {
  const { code } = refusal;
  switch (code) {
    case "pool_not_found": {
      const { pool, nearest, known } = refusal;
      const names =
        known.length === 0 ? "The configuration has no pool" : `Use ${known.join(", ")}`;
      const hint = nearest === undefined ? names : `Did you mean "${nearest}"?`;
      const facts = { pool, known, ...(nearest === undefined ? undefined : { nearest }) };
      return new Problem({ code, status: 404, message: `Cannot find pool "${pool}"`, hint, facts });
    }
    case "never_fits": {
      const { pool, asked, size } = refusal;
      return new Problem({
        code,
        status: 422,
        message: `Cannot ever grant ${asked} of ${pool}: it has ${size}`,
        hint: size === 0 ? "Choose another pool" : `Ask for ${size} at the most`,
        facts: { pool, asked, size },
      });
    }
    case "request_id_reused":
      return idReused(refusal);
    case "group_full":
    case "group_size_differs":
      return groupProblem(refusal);
    case "pool_not_in_lease":
    case "request_not_found":
    case "lease_not_found":
    case "claim_not_found":
    case "resource_not_found":
      return notFound(refusal);
    case "request_ended":
    case "lease_ended":
      return ended(refusal);
    case "lease_not_granted":
      return new Problem({
        code,
        status: 409,
        message: `Cannot use ${refusal.id} as a lease: it is still waiting`,
        hint: `Wait for it with GET /v1/requests/${refusal.id}, or remove it from the queue with DELETE`,
      });
    case "request_granted":
    case "priority_unknown":
      return priorityProblem(refusal);
    case "state_reserved":
    case "state_not_allowed":
      return stateRefused(refusal);
    case "too_many_entries":
    case "user_data_refused":
      return entriesRefused(refusal);
    case "space_unknown":
    case "pool_not_allowed":
    case "quota_too_small":
    case "too_many_waiting":
    case "too_many_priorities":
      return spaceProblem(refusal);
    case "none_free":
    case "not_all_free":
    case "not_its_holder":
    case "state_differs":
    case "resource_held":
      return notAvailable(refusal);
  }
}

function idReused({ code, key }: Extract<Refusal, { code: "request_id_reused" }>): Problem {
  return new Problem({
    code,
    status: 409,
    message: `Cannot use the request id "${key}": it belongs to another request`,
    hint: "Use a new requestId for a new request; repeat one only with the same holder and items",
  });
}

type PriorityRefused = Extract<Refusal, { code: "request_granted" | "priority_unknown" }>;

function priorityProblem(refusal: PriorityRefused): Problem {
  if (refusal.code === "request_granted") {
    const { code, id } = refusal;
    return new Problem({
      code,
      status: 409,
      message: `Cannot change the priority of ${id}: it has been granted`,
      hint: `See the lease with GET /v1/leases/${id}`,
    });
  }
  const { code, name, nearest, known } = refusal;
  const names = known.length === 0 ? "Use a number" : `Use a number, or ${known.join(", ")}`;
  return new Problem({
    code,
    status: 422,
    message: `Cannot use the priority "${name}": the configuration does not have it`,
    hint: nearest === undefined ? names : `Did you mean "${nearest}"?`,
    facts: { known, ...(nearest === undefined ? undefined : { nearest }) },
  });
}

type StateRefused = Extract<Refusal, { code: "state_reserved" | "state_not_allowed" }>;

function stateRefused(refusal: StateRefused): Problem {
  const { code, state } = refusal;
  if (code === "state_reserved") {
    return new Problem({
      code,
      status: 422,
      message: `Cannot put a resource into the state "${state}": only the server does`,
      hint: "Use free, dirty, quarantined or a state of your own; to keep it from being lent, drain it",
    });
  }
  const { pool, allowed } = refusal;
  return new Problem({
    code,
    status: 422,
    message: `Cannot put a resource of ${pool} into the state "${state}": the pool does not allow it`,
    hint: `Use ${allowed.join(", ")}, or add the state to states of the pool`,
    facts: { pool, allowed },
  });
}

type EntriesRefused = Extract<Refusal, { code: "too_many_entries" | "user_data_refused" }>;

function entriesRefused(refusal: EntriesRefused): Problem {
  const { code, resource } = refusal;
  if (code === "too_many_entries") {
    return new Problem({
      code,
      status: 422,
      message: `Cannot change the ${refusal.what} of ${resource}: it would have more than ${refusal.max}`,
      hint: "Remove some first, with null as their value",
    });
  }
  return new Problem({
    code,
    status: 422,
    message: `Cannot change ${resource}: ${describeUserDataFault(refusal.fault)}`,
    hint: "Send less, as text without NUL; remove a key with null as its value",
  });
}

type NotAvailable = Extract<
  Refusal,
  { code: "none_free" | "not_all_free" | "not_its_holder" | "state_differs" | "resource_held" }
>;

function notAvailable(refusal: NotAvailable): Problem {
  const { code } = refusal;
  switch (code) {
    case "none_free":
      return new Problem({
        code,
        status: 409,
        message: `Cannot lend ${refusal.pool} now: ${refusal.because?.what ?? "none is free"}`,
        hint:
          refusal.because?.code === "quota_reached"
            ? "Release what your space no longer needs, ask again later, or wait in the queue"
            : "Ask again later, or wait in the queue",
        facts: {
          pool: refusal.pool,
          ...(refusal.because === undefined ? undefined : { reason: refusal.because.code }),
        },
      });
    case "not_all_free":
      return new Problem({
        code,
        status: 409,
        message: `Cannot take all of them: ${refusal.resources.join(", ")} not ${refusal.state}`,
        hint: "None was taken. Ask again later",
        facts: { resources: refusal.resources },
      });
    case "not_its_holder":
      return new Problem({
        code,
        status: 403,
        message: `Cannot act on ${refusal.resource}: ${whoHolds(refusal.holder)}`,
        hint: refusal.needsToken
          ? "Use the lease's id and token under /v1/leases"
          : "Stop using it, and ask again",
      });
    case "state_differs":
      return new Problem({
        code,
        status: 409,
        message: `Cannot renew ${refusal.resource}: it is ${refusal.state}, not ${refusal.claimed}`,
        hint: "Send the state that it is in",
      });
    case "resource_held":
      return new Problem({
        code,
        status: 409,
        message: `Cannot set the state of ${refusal.resource}: ${refusal.holder} holds it`,
        hint: "Drain it instead, or end the lease first",
      });
  }
}

type NotFound = Extract<
  Refusal,
  {
    code:
      | "request_not_found"
      | "lease_not_found"
      | "claim_not_found"
      | "pool_not_in_lease"
      | "resource_not_found";
  }
>;

function groupProblem(
  refusal: Extract<Refusal, { code: "group_full" | "group_size_differs" }>,
): Problem {
  const { code, group, size } = refusal;
  const cannot = `Cannot join the group "${group}"`;
  if (code === "group_full") {
    return new Problem({
      code,
      status: 409,
      message: `${cannot}: all ${size} of it wait already`,
      hint: "Use another group name, or repeat a request of the group with its requestId",
      facts: { group, size },
    });
  }
  return new Problem({
    code,
    status: 409,
    message: `${cannot} with size ${refusal.asked}: its size is ${size}`,
    hint: "Give all requests of a group the same size, or use another group name",
    facts: { group, size, asked: refusal.asked },
  });
}

function notFound(refusal: NotFound): Problem {
  const { code } = refusal;
  const no = (message: string, hint: string) => new Problem({ code, status: 404, message, hint });
  switch (code) {
    case "request_not_found":
      return no(
        `Cannot find request "${refusal.id}"`,
        "List waiting requests with GET /v1/requests",
      );
    case "lease_not_found":
      return no(`Cannot find lease "${refusal.id}"`, "List leases with GET /v1/leases");
    case "claim_not_found":
      return no(
        `Cannot find claim "${refusal.claim}" in lease ${refusal.id}`,
        `See its claims with GET /v1/leases/${refusal.id}`,
      );
    case "pool_not_in_lease":
      return no(
        `Cannot find anything of pool "${refusal.pool}" in lease ${refusal.id}`,
        `See its claims with GET /v1/leases/${refusal.id}`,
      );
    case "resource_not_found": {
      const { resource, nearest } = refusal;
      const message = `Cannot find resource "${resource}"`;
      const facts = { resource, ...(nearest === undefined ? undefined : { nearest }) };
      const hint =
        nearest === undefined ? "See them with GET /v1/resources" : `Did you mean "${nearest}"?`;
      return new Problem({ code, status: 404, message, hint, facts });
    }
  }
}

const howEnded: Record<Extract<Refusal, { code: "lease_ended" }>["how"], string> = {
  released: "its holder released it",
  expired: "no heartbeat came within its ttl",
  lifetime: "it reached its lifetime",
  revoked: "an operator ended it",
  undecidable: "the broker could not decide about it; its log has the error",
  uncollected: "its client did not collect it in time",
  reset: "it was taken back after too long without a heartbeat",
  cancelled: "it left the queue",
  disconnected: "its connection closed while it waited",
  abandoned: "no poll came within its ttl",
  unsatisfiable: "the configuration changed and can never satisfy it",
};

function ended(refusal: Extract<Refusal, { code: "lease_ended" | "request_ended" }>): Problem {
  const { code, id, how } = refusal;
  const endedAt = timestamp(refusal.endedAt);
  const what = code === "lease_ended" ? "lease" : "request";
  const reason = code === "lease_ended" ? refusal.reason : undefined;
  const isTakenBack = how === "revoked" && reason?.by === "berth";
  const why = isTakenBack ? "its pool took it back" : howEnded[how];
  const who = isTakenBack || reason === undefined ? "" : `${reason.by}: `;
  const because = reason === undefined ? "" : ` (${who}${reason.why})`;
  return new Problem({
    code,
    status: 410,
    message: `Cannot go on with ${what} ${id}: ${why} at ${endedAt}${because}`,
    hint:
      code === "lease_ended"
        ? "Stop using its resources; ask again with a new requestId"
        : "Ask again with a new requestId",
    facts: { how, endedAt, ...(reason && { reason }) },
  });
}

function whoHolds(holder: string): string {
  return holder === "" ? "nobody holds it" : `${holder} holds it`;
}

export function invalid(place: string, wrong: string, hint: string): Problem {
  const facts = { errors: [{ place, message: wrong }] };
  const message = `Cannot read ${place}: ${wrong}`;
  return new Problem({ code: "invalid_request", status: 400, message, hint, facts });
}
