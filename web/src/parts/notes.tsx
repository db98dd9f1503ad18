/** Notes for views without data: the reason, and what to do next. */
import type { ReactNode } from "react";
import { Problem } from "../../../src/api/problem.ts";
import { BerthUnreachable } from "../../../src/client/errors.ts";
import { connection } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import { WhatNext } from "./what-next.tsx";

export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="note">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

interface ProblemProps {
  readonly error: unknown;
  /** What to do if no answer came to a call that nothing repeats. */
  readonly unanswered?: string;
}

export function ProblemNote({ error, unanswered }: ProblemProps) {
  const { state } = useStore(connection);
  if (error === undefined) return null;
  if (error instanceof BerthUnreachable) {
    if (unanswered !== undefined) {
      return (
        <div className="note bad" role="alert">
          <strong>No answer came</strong>
          <p>{unanswered}</p>
        </div>
      );
    }
    // The line at the top shows it, and the view shows the last known state.
    if (state !== "live") return null;
    return (
      <p className="loading" role="status">
        The server takes long to answer this. Trying again …
      </p>
    );
  }
  // Nothing is broken: the address is old or wrong, and the reader goes on from here.
  if (error instanceof Problem && error.status === 404) {
    return (
      <div role="alert">
        <EmptyNote title={error.message}>
          <WhatNext problem={error} />
        </EmptyNote>
      </div>
    );
  }
  return (
    <div className="note bad" role="alert">
      <strong>{error instanceof Error ? error.message : String(error)}</strong>
      <p>
        {error instanceof Problem ? (
          <WhatNext problem={error} />
        ) : (
          "Reload the page. If this does not help, report it"
        )}
      </p>
    </div>
  );
}

/**
 * Instead of data that has not come yet; a problem has its own note. It appears with a delay, so
 * that fast replies do not flicker.
 */
export function Loading({ error }: { error?: unknown }) {
  const { state } = useStore(connection);
  if (state === "lost") return <NotLoadedYet />;
  return error === undefined ? <p className="loading">Loading …</p> : null;
}

/** Without a connection there is nothing to show of what nobody has opened before. */
function NotLoadedYet() {
  return (
    <p className="loading not-loaded">
      This view was not loaded before. It appears when the server answers.
    </p>
  );
}
