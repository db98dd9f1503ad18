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

/** A call that was passed on, and had no effect. */
export function serverStops(): Problem {
  return new Problem({
    code: "shutting_down",
    status: 503,
    message: "Cannot answer: the server is stopping",
    hint: "Nothing was changed; try again",
  });
}

/** The database is down for this server: nobody can lead, or this server cannot know who does. */
export function journalOutOfReach(): Problem {
  return new Problem({
    code: "journal_unavailable",
    status: 503,
    message: "Cannot read: only the server that leads knows it, and the journal cannot be reached",
    hint: "Try again; pools and events are answered from memory for a while. Operators: check PostgreSQL and the network to it",
  });
}

export function answerLost(): Problem {
  return new Problem({
    code: "leader_lost",
    status: 503,
    message: "Cannot tell the outcome: the connection to the server that leads was lost",
    hint: "It may have had an effect; repeat the call with the same requestId, or look",
  });
}
