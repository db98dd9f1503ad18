import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, ProblemNote } from "../parts/notes.tsx";
import { addressOf } from "../parts/search-box.tsx";
import { useFilter } from "../router.ts";

const settleMs = 150;

export function SearchPage() {
  const [text] = useFilter("q");
  const wanted = useSettled(text.trim(), settleMs);
  const { data, error } = useAnswer(found(wanted));
  return (
    <>
      <h1>Search</h1>
      <div className="tools">
        <FilterBox label="Search pools, spaces, resources, holders, ids, labels and notes" />
      </div>
      <ProblemNote error={error} />
      {data === undefined || data.items.length > 0 ? null : (
        <EmptyNote title={wanted === "" ? "Enter a text" : "Nothing found"}>
          Past leases are not searched. Open one by its id, at <code>/leases/ID</code>.
        </EmptyNote>
      )}
      <ul className="hits">
        {data?.items.map((hit) => (
          <li key={`${hit.kind} ${hit.name}`} data-row>
            <small>{hit.kind}</small> <Link href={addressOf(hit)}>{hit.title}</Link>{" "}
            <span className="faint">
              {hit.about}
              {hit.name === hit.title ? "" : ` · ${hit.name}`}
            </span>
          </li>
        ))}
      </ul>
      {data?.more ? <EmptyNote title="There are more">Search for a longer text.</EmptyNote> : null}
    </>
  );
}
