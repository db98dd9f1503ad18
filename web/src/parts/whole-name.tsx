/** The end of a name is always shown: it is the difference between `slot-17` and `slot-18`. */
const endLength = 9;
/** From a hyphen on, so that no word is cut, unless the end is too long then. */
const wholeEnd = /-[^-]+-[^-]+$/;
const endLengthMax = 12;

function endOf(name: string): number {
  const from = name.search(wholeEnd);
  const length = from === -1 ? endLength : name.length - from;
  return length > endLengthMax ? endLength : length;
}

/** Shortens a long name in the middle, not at the end. */
export function WholeName({ name }: { name: string }) {
  if (name.length <= endLength * 2) return <span className="whole-name">{name}</span>;
  const end = endOf(name);
  return (
    <span className="whole-name">
      <span>{name.slice(0, -end)}</span>
      <b>{name.slice(-end)}</b>
    </span>
  );
}
