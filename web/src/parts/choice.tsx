import { useFilter } from "../router.ts";

interface Props extends Choices {
  /** The filter that it sets. */
  readonly name: string;
  readonly onChosen?: () => void;
}

interface Choices {
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice between a few values, stored in the address. */
export function Choice({ name, onChosen, ...shown }: Props) {
  const [chosen, choose] = useFilter(name);
  const onChoose = (value: string) => {
    choose(value);
    onChosen?.();
  };
  return <ChoiceButtons {...shown} {...{ chosen, onChoose }} />;
}

interface ButtonsProps extends Choices {
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
