import type { SearchHit } from "../../../src/api/schemas.ts";
import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { addressOf } from "../parts/search-box.tsx";
import { lookOf } from "../parts/state-look.ts";
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
        <FilterBox label="Search pools, spaces, hubs, resources, holders, ids, labels and notes" />
      </div>
      <ProblemNote error={error} />
      {data === undefined || data.items.length > 0 ? null : (
        <EmptyNote title={wanted === "" ? "Enter a text" : "Nothing found"}>
          Past leases are not searched. Open one by its id, at <code>/leases/ID</code>.
        </EmptyNote>
      )}
      {kindsOf(data?.items ?? []).map(([kind, hits]) => (
        <Found key={kind} {...{ kind, hits, text: wanted }} count={data?.counts[kind] ?? 0} />
      ))}
      {data?.more ? <EmptyNote title="There are more">Search for a longer text.</EmptyNote> : null}
    </>
  );
}

interface FoundProps {
  readonly kind: SearchHit["kind"];
  readonly hits: readonly SearchHit[];
  /** Of all that were found, listed or not. */
  readonly count: number;
  readonly text: string;
}

/** What was found of one kind. */
function Found({ kind, hits, count, text }: FoundProps) {
  const list = lists[kind];
  const isPart = hits.length < count;
  return (
    <section aria-labelledby={`found-${kind}`}>
      <h2 id={`found-${kind}`}>
        {headings[kind]}{" "}
        <small>
          {isPart ? `first ${grouped(hits.length)} of ${grouped(count)}` : grouped(hits.length)}
        </small>
        {isPart && list !== undefined ? (
          <Link className="all" href={`${list}?q=${encodeURIComponent(text)}`}>
            Show all
          </Link>
        ) : null}
      </h2>
      <ul className="hits">
        {hits.map((hit) => (
          <li key={hit.name} data-row>
            {kind === "resource" ? <StateDot about={hit.about} /> : null}
            <Link href={addressOf(hit)}>{hit.title}</Link>{" "}
            <span className="faint">{hit.about}</span>
            {hit.name === hit.title ? null : <code className="faint">{hit.name}</code>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Of a resource the text begins with its state. */
function StateDot({ about }: { about: string }) {
  return <i className={`look-${lookOf(about.split(" ")[0] ?? "")}`} aria-hidden="true" />;
}

const headings: Readonly<Record<SearchHit["kind"], string>> = {
  pool: "Pools",
  space: "Spaces",
  hub: "Hubs",
  resource: "Resources",
  request: "Requests",
  lease: "Leases",
};

/** The views that list all of a kind, and filter by the same texts. */
const lists: Readonly<Partial<Record<SearchHit["kind"], string>>> = {
  pool: "/",
  hub: "/hubs",
  request: "/queue",
  lease: "/leases",
};

/** The kind of the best hit first. */
function kindsOf(hits: readonly SearchHit[]): [SearchHit["kind"], SearchHit[]][] {
  const kinds = new Map<SearchHit["kind"], SearchHit[]>();
  for (const hit of hits) kinds.set(hit.kind, [...(kinds.get(hit.kind) ?? []), hit]);
  return [...kinds];
}
