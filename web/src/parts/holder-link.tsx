import { useAnswer } from "../data/query.ts";
import { holderOfAny } from "../data/questions.ts";
import { at } from "../router.ts";
import { Link } from "./link.tsx";

/** A request or a lease by its holder. Who asked before this page was opened is asked of the server. */
export function HolderLink({ id }: { id: string }) {
  const { data } = useAnswer(holderOfAny(id));
  return (
    <Link href={at("leases", id)} title={id}>
      {data ?? id}
    </Link>
  );
}
