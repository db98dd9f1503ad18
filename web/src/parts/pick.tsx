import { useFilter } from "../router.ts";

interface Props {
  /** The filter that it sets. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  /** Names may be longer than there is space for; words are shown in full. */
  readonly hasNames?: boolean;
}

/** A choice between many values, stored in the address. For a few there is `Choice`. */
export function Pick({ name, label, options, hasNames = false }: Props) {
  const [chosen, choose] = useFilter(name);
  return (
    <label className={hasNames ? "order names" : "order"}>
      {label}
      <select value={chosen} onChange={(event) => choose(event.target.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
