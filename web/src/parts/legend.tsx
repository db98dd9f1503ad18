import { useIsPhone } from "./phone.ts";
import { inOrder, legendWord, lookOf } from "./state-look.ts";

interface Props {
  readonly states: readonly string[];
}

/** Folded on a phone, where it would take the place of the first rows. */
export function FoldedLegend(props: Props) {
  const isPhone = useIsPhone();
  if (!isPhone) return <Legend {...props} />;
  return (
    <details className="colours">
      <summary>Colours</summary>
      <Legend {...props} />
    </details>
  );
}

/** What each colour of the bars and lines means. Only colours that are there. */
export function Legend({ states }: Props) {
  const known = [...new Set(states.filter((state) => state !== "free"))];
  const inBars = inOrder(Object.fromEntries(known.map((state) => [state, 1])));
  const words = new Map<string, string[]>();
  for (const [state] of inBars) {
    const look = lookOf(state);
    const name = legendWord(state);
    words.set(look, [...(words.get(look) ?? []).filter((word) => word !== name), name]);
  }
  return (
    <p className="legend">
      {Array.from(words, ([look, list]) => (
        <span key={look}>
          <i className={`look-${look}`} aria-hidden="true" /> {list.join(", ")}
        </span>
      ))}
      <span>
        <i className="look-free" aria-hidden="true" /> free
      </span>
    </p>
  );
}
