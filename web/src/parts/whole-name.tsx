/** So much of a name's end is always shown: it is what tells `slot-17` from `slot-18`. */
const endLength = 9;

/** A name that is too long for its place loses its middle, not its end. */
export function WholeName({ name }: { name: string }) {
  if (name.length <= endLength * 2) return <span className="whole-name">{name}</span>;
  return (
    <span className="whole-name">
      <span>{name.slice(0, -endLength)}</span>
      <b>{name.slice(-endLength)}</b>
    </span>
  );
}
