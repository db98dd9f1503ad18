/** Notes for views without data: the reason, and what to do next. */
import type { ReactNode } from "react";
import { Problem } from "../../../src/api/problem.ts";
import { BerthUnreachable } from "../../../src/client/errors.ts";
import { WhatNext } from "./what-next.tsx";

export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="note">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

export function ProblemNote({ error }: { error: unknown }) {
  // The line at the top shows it, and the view shows the last known state.
  if (error === undefined || error instanceof BerthUnreachable) return null;
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

/** Appears with a delay, so that fast replies do not flicker. */
export function Loading() {
  return <p className="loading">Loading …</p>;
}
