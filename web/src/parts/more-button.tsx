import { grouped } from "./numbers.ts";

interface Props {
  readonly shown: number;
  readonly of: number;
  /** What all of these are, if there are others: `the latest`. */
  readonly which?: string;
  readonly onMore: (shown: number) => void;
}

/** Long lists start short, because drawing a thousand rows takes time. */
export function MoreButton({ shown, of, which, onMore }: Props) {
  if (of <= shown) return null;
  return (
    <button type="button" className="more" onClick={() => onMore(shown * 4)}>
      Show more ({grouped(of - shown)} left
      {which === undefined ? "" : ` of ${which} ${grouped(of)}`})
    </button>
  );
}
