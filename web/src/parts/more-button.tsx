import { grouped } from "./numbers.ts";

interface Props {
  readonly shown: number;
  readonly of: number;
  readonly onMore: (shown: number) => void;
}

/** Long lists start short: nobody reads the thousandth row, and everybody waits for it. */
export function MoreButton({ shown, of, onMore }: Props) {
  if (of <= shown) return null;
  return (
    <button type="button" className="more" onClick={() => onMore(shown * 4)}>
      Show more of the other {grouped(of - shown)}
    </button>
  );
}
