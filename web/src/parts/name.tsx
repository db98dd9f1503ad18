/** No row has room for a longer one. */
const nameLengthMax = 40;

/** A longer name is cut off in a row; its title has all of it. */
export function cutOff(name: unknown) {
  const isLong = typeof name === "string" && name.length > nameLengthMax;
  return isLong ? { title: name, "data-long": "" } : undefined;
}

/** A name in a row that is no link. */
export function Name({ name }: { name: string }) {
  return (
    <bdi className="name" {...cutOff(name)}>
      {name}
    </bdi>
  );
}
