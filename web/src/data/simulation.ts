import { useCallback, useEffect, useRef, useState } from "react";
import type { CompareBody, SimulatedVariants } from "../../../src/api/history-schemas.ts";
import { berth } from "./berth.ts";

/** The interval at which the progress is read. */
const pollIntervalMs = 400;

/** Runs one comparison at a time. Leaving the view cancels it, on the server as well. */
export function useSimulation() {
  const [running, setRunning] = useState(false);
  const [done, setDone] = useState(0);
  const current = useRef<AbortController>(undefined);
  const cancel = useCallback(() => current.current?.abort(), []);
  useEffect(() => cancel, [cancel]);
  /** Returns undefined if it was cancelled. */
  const start = useCallback(async (body: CompareBody): Promise<SimulatedVariants | undefined> => {
    const stop = new AbortController();
    current.current?.abort();
    current.current = stop;
    setRunning(true);
    setDone(0);
    const timer = setInterval(() => {
      const looked = berth.simulationProgress({ signal: stop.signal });
      looked.then(({ done: share }) => setDone(share ?? 0)).catch(() => {}); // The next poll reports it.
    }, pollIntervalMs);
    try {
      return await berth.compareVariants(body, { signal: stop.signal });
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      throw error;
    } finally {
      clearInterval(timer);
      if (current.current === stop) setRunning(false);
    }
  }, []);
  return { running, done, start, cancel };
}
