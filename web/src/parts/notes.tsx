/** What stands where there is nothing to show: why, and what to do next. */
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
  // The line at the top tells of it, and what is shown is what was last known.
  if (error === undefined || error instanceof BerthUnreachable) return null;
  return (
    <div className="note bad" role="alert">
      <strong>{error instanceof Error ? error.message : String(error)}</strong>
      <p>
        {error instanceof Problem ? (
          <WhatNext problem={error} />
        ) : (
          "Reload the page; if it stays, report it"
        )}
      </p>
    </div>
  );
}

/** Shown only if it takes a while: what comes at once must not flicker. */
export function Loading() {
  return <p className="loading">Reading from the server …</p>;
}
