/** The end of a name is always shown: it is the difference between `slot-17` and `slot-18`. */
const endLength = 9;

/** Shortens a long name in the middle, not at the end. */
export function WholeName({ name }: { name: string }) {
  if (name.length <= endLength * 2) return <span className="whole-name">{name}</span>;
  return (
    <span className="whole-name">
      <span>{name.slice(0, -endLength)}</span>
      <b>{name.slice(-endLength)}</b>
    </span>
  );
}
