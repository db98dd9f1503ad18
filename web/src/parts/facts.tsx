import type { ReactNode } from "react";

type Fact = readonly [label: string, value: ReactNode];

/** Names and values side by side, without those that are false or null. */
export function Facts({
  label,
  facts,
}: {
  label: string;
  facts: readonly (Fact | false | null)[];
}) {
  return (
    <dl className="facts" aria-label={label}>
      {facts.map((fact) =>
        fact === null || fact === false ? null : (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
