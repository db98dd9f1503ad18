import { useFilter } from "../router.ts";

interface Props {
  /** The filter that it sets. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice between a few values, stored in the address. */
export function Choice({ name, label, options }: Props) {
  const [chosen, choose] = useFilter(name);
  return (
    <fieldset className="choice">
      <legend className="hidden">{label}</legend>
      {options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          onClick={() => choose(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
