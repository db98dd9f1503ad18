import type { Older } from "../data/older.ts";
import { ProblemNote } from "./notes.tsx";
import { Moment } from "./times.tsx";

interface Props {
  readonly older: Older<unknown> & { readonly load: (after: string) => Promise<void> };
  /** Where the first page goes on; null: it has everything. */
  readonly next: string | null;
  /** Called before the first older page is read: what is shown must stay. */
  readonly onFirst: () => void;
  /** How far back the list goes: one row of it may be thousands of events. */
  readonly since?: string | undefined;
}

/** The way to what happened earlier. */
export function OlderButton({ older, next, onFirst, since }: Props) {
  const after = older.next === undefined ? next : older.next;
  if (after === null) {
    return <p className="calm list-end">These are all that are kept.</p>;
  }
  return (
    <>
      <ProblemNote error={older.error} unanswered="Try again." />
      <button
        type="button"
        className="more"
        disabled={older.isReading}
        onClick={() => {
          if (older.next === undefined) onFirst();
          void older.load(after);
        }}
      >
        {older.isReading ? "Searching …" : "Load older"}
      </button>
      {since === undefined ? null : (
        <span className="calm list-since">
          back to <Moment at={since} />
        </span>
      )}
    </>
  );
}
