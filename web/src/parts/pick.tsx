import { useFilter } from "../router.ts";

interface Props {
  /** The filter that it sets. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice between many values, stored in the address. For a few there is `Choice`. */
export function Pick({ name, label, options }: Props) {
  const [chosen, choose] = useFilter(name);
  return (
    <label className="order">
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
