/** In the answers of a server that does not lead, or does no longer: the call had no effect. */
export const notLeaderHeader = "berth-not-leader";
