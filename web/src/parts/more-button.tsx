import { grouped } from "./numbers.ts";

interface Props {
  readonly shown: number;
  readonly of: number;
  /** What all of these are, if there are others: `the latest`. */
  readonly which?: string;
  /** Its place stays empty while there is no more, so that nothing below moves when there is. */
  readonly keepsPlace?: boolean;
  readonly onMore: (shown: number) => void;
}

/** Long lists start short, because drawing a thousand rows takes time. */
export function MoreButton({ shown, of, which, onMore, keepsPlace = false }: Props) {
  if (of <= shown) {
    return keepsPlace ? <button type="button" className="more kept" disabled /> : null;
  }
  return (
    <button type="button" className="more" onClick={() => onMore(shown * 4)}>
      Show more ({grouped(of - shown)} left
      {which === undefined ? "" : ` of ${which} ${grouped(of)}`})
    </button>
  );
}
