interface Props {
  /** From 0 to 1. */
  readonly part: number;
  readonly late?: boolean;
}

/** The part of a time that is over. The text beside it says the same. */
export function TimeBar({ part, late = false }: Props) {
  return (
    <span className={late ? "time-bar late" : "time-bar"} aria-hidden="true">
      <span style={{ width: `${Math.round(Math.min(1, Math.max(0, part)) * 100)}%` }} />
    </span>
  );
}
