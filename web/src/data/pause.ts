/** A list that moves can be paused: what is shown then stays. */
import { useEffect, useState } from "react";

interface Paused<Page> {
  /** What is listed. */
  readonly key: string;
  readonly page: Page;
  /** Somebody has paused it: with another filter it stays paused. Else older ones were loaded. */
  readonly isAsked: boolean;
}

/** `key` says what is listed, `live` is the newest that is known of it. */
export function usePause<Page>(key: string, live: Page | undefined) {
  const [paused, setPaused] = useState<Paused<Page>>();
  const isOther = paused !== undefined && paused.key !== key;
  useEffect(() => {
    if (!isOther) return;
    if (!paused.isAsked) setPaused(undefined);
    else if (live !== undefined) setPaused({ ...paused, key, page: live });
  }, [isOther, paused, key, live]);
  return {
    isPaused: paused !== undefined && (!isOther || paused.isAsked),
    /** What is shown meanwhile; undefined: what is live. */
    page: isOther ? undefined : paused?.page,
    pause: () => live !== undefined && setPaused({ key, page: live, isAsked: true }),
    /** While older ones are shown below it, nothing comes in above. */
    keep: (page: Page) => setPaused((now) => now ?? { key, page, isAsked: false }),
    resume: () => setPaused(undefined),
  };
}
