import { useFilter } from "../router.ts";
import { Pick } from "./pick.tsx";

/** Chooses one of the spaces that the rows have. Nothing if there is only one. */
export function SpaceFilter({ spaces }: { spaces: readonly (string | undefined)[] }) {
  const [chosen] = useFilter("space");
  const known = [...new Set([...spaces, chosen])].flatMap((space) => space || []);
  if (known.length < 2 && chosen === "") return null;
  const nameOf = (space: string) => (spaces.includes(space) ? space : `${space} (none here)`);
  const options = known.toSorted().map((space) => [space, nameOf(space)] as const);
  return <Pick name="space" label="Space" options={[["", "All"], ...options]} />;
}
