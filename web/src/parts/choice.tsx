import { useFilter } from "../router.ts";

interface Props {
  /** The filter that it sets. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice between a few values, stored in the address. */
export function Choice({ name, ...shown }: Props) {
  const [chosen, choose] = useFilter(name);
  return <ChoiceButtons {...shown} chosen={chosen} onChoose={choose} />;
}

interface ButtonsProps extends Omit<Props, "name"> {
  /** Undefined: none of them is chosen. */
  readonly chosen: string | undefined;
  readonly onChoose: (value: string) => void;
}

export function ChoiceButtons({ label, options, chosen, onChoose }: ButtonsProps) {
  return (
    <fieldset className="choice">
      <legend className="hidden">{label}</legend>
      {options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          data-text={text}
          onClick={() => onChoose(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
