/** A longer name than this may be broken anywhere: no row has room for it. */
const unbrokenMax = 40;

/** A text whose names, such as `esx-4`, are not broken at their hyphens. */
export function Unbroken({ text }: { text: string }) {
  return text.split(" ").map((word, index) => {
    const space = index === 0 ? "" : " ";
    if (!word.includes("-") || word.length > unbrokenMax) return space + word;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: words have no other name, and no state.
      <span key={index}>
        {space}
        <span className="unbroken">{word}</span>
      </span>
    );
  });
}
