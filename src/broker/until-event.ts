import type { DurableEvent } from "../core/model/event.ts";
import type { Recorded } from "../journal/journal.ts";

interface Listened {
  listen(listener: { committed(recorded: Recorded): void }): () => void;
}

interface Patience {
  /** A journal that was not writable tells nothing. */
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/** Resolves when an event like this is committed, after the time, or when the signal aborts. */
export function untilEvent(
  broker: Listened,
  isLike: (event: DurableEvent) => boolean,
  { atMostMs, signal }: Patience,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stopListening();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const committed = ({ events }: Recorded): void => {
      if (events.some(isLike)) end();
    };
    const stopListening = broker.listen({ committed });
    const timer = setTimeout(end, atMostMs);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
