import { type ReactNode, useId } from "react";

export interface GateStatus {
  readonly open: boolean;
  readonly words: ReactNode;
  /** Something is broken, and somebody must fix it. */
  readonly bad?: boolean;
}

interface Props {
  readonly title: string;
  /** Whether it lets the next request through, in a few words. */
  readonly status?: GateStatus | undefined;
  readonly buttons?: ReactNode;
  /** It has more than a few lines. */
  readonly wide?: boolean;
  /** It is one of a list: the keys step through them. */
  readonly isRow?: boolean;
  readonly children?: ReactNode;
}

/** One rule that can hold requests back, or that shares the pool: its state first, then the details. */
export function GateCard({ title, status, buttons, wide = false, isRow = false, children }: Props) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={wide ? "gate wide" : "gate"}
      data-row={isRow ? "" : undefined}
    >
      <div className="gate-head">
        <h2 id={id}>{title}</h2>
        {status === undefined ? null : <span className={lookOf(status)}>{status.words}</span>}
        <span className="gate-buttons">{buttons}</span>
      </div>
      {children}
    </section>
  );
}

function lookOf({ open, bad = false }: GateStatus): string {
  if (bad) return "gate-status bad";
  return open ? "gate-status open" : "gate-status";
}
