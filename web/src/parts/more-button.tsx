import { grouped } from "./numbers.ts";

interface Props {
  readonly shown: number;
  readonly of: number;
  readonly onMore: (shown: number) => void;
}

/** Long lists start short, because drawing a thousand rows takes time. */
export function MoreButton({ shown, of, onMore }: Props) {
  if (of <= shown) return null;
  return (
    <button type="button" className="more" onClick={() => onMore(shown * 4)}>
      Show more ({grouped(of - shown)} left)
    </button>
  );
}
