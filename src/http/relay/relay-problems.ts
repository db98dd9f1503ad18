import { Problem } from "../../api/problem.ts";

/** Somebody who is no replica has written the header, or a replica of another journal. */
export function relayRefused(): Problem {
  return new Problem({
    code: "relay_refused",
    status: 403,
    message: "Cannot accept the call: no replica of this journal has passed it on just now",
    hint: "Send it without the header Berth-Relay. Operators: all replicas must use one journal",
  });
}

/** The call had no effect. */
export function nobodyLeads(): Problem {
  return new Problem({
    code: "not_leader",
    status: 503,
    message: "Cannot decide: no server leads at present",
    hint: "Nothing was changed; try again in a moment",
  });
}

export function answerLost(): Problem {
  return new Problem({
    code: "leader_lost",
    status: 503,
    message: "Cannot tell the outcome: the connection to the server that leads was lost",
    hint: "It may have had an effect; repeat the call with the same requestId",
  });
}
