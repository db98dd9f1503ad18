import { useFilter } from "../router.ts";
import { Pick } from "./pick.tsx";

interface Props {
  readonly name: "pool" | "space" | "holder";
  readonly label: string;
  /** None: only an address sets it. */
  readonly names: readonly string[];
}

/** A choice of a name. The one in the address is always among them. */
export function PickName({ name, label, names }: Props) {
  const [chosen] = useFilter(name);
  const all = chosen === "" || names.includes(chosen) ? names : [chosen, ...names];
  if (all.length === 0) return null;
  const options = [["", "all"], ...all.map((one) => [one, one] as const)] as const;
  return <Pick name={name} label={label} options={options} hasNames />;
}
