/** How long the provisioner waits, and how much it keeps. */
export const callsAtOnceDefault = 16;
/** A task that waits costs a heartbeat every 15 s, and no call. */
export const tasksMax = 2_000;
/** Idle and lent clusters are observed this long after the last time. */
export const sweepMsDefault = 60_000;
export const orphanSearchMsDefault = 5 * 60_000;
/** Soon after the start: what it finds is shown, and its grace period begins. */
export const firstSearchMs = 10_000;
/** A cluster that nobody knows of may be one that is just being made. */
export const orphanGraceMsDefault = 30 * 60_000;
export const messageLengthMax = 2_000;
/** As in the API, because a provisioner may be another process. */
export const versionLengthMax = 128;
export const logBudget = { bytesMax: 256 * 1_024, timeMsMax: 60_000 };

/** Short at first, for drivers that need a second; never more than 15 s. */
const pollDelaysMs = [100, 250, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 15_000];

export function pollDelayMs(turn: number): number {
  return pollDelaysMs[Math.min(turn, pollDelaysMs.length - 1)] ?? 15_000;
}

/** A call that has had no effect after so many observations is made again. */
export const reissueTurns = 10;
