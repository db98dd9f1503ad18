import type { SearchHit } from "../../../src/api/schemas.ts";
import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { EmptyNote, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { addressOf, pastOf } from "../parts/search-box.tsx";
import { lookOf } from "../parts/state-look.ts";
import { at, useFilter } from "../router.ts";

const settleMs = 150;

export function SearchPage() {
  const [text] = useFilter("q");
  const wanted = useSettled(text.trim(), settleMs);
  const { data, error } = useAnswer(found(wanted));
  return (
    <>
      <h1>{wanted === "" ? "Search" : `Search for “${wanted}”`}</h1>
      <ProblemNote error={error} />
      {data === undefined || data.items.length > 0 ? null : (
        <NothingFound text={wanted} meant={data.meant} />
      )}
      {kindsOf(data?.items ?? []).map(([kind, hits]) => (
        <Found key={kind} {...{ kind, hits, text: wanted }} count={data?.counts[kind] ?? 0} />
      ))}
      {data?.more ? <EmptyNote title="There are more">Search for a longer text.</EmptyNote> : null}
    </>
  );
}

function NothingFound({ text, meant }: { text: string; meant: string | undefined }) {
  if (text === "") {
    return (
      <EmptyNote title="Enter a text above">
        Names of pools, spaces, hubs, resources and holders, ids, labels and notes are searched.
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title="Nothing found">
      {meant === undefined ? null : (
        <>
          Did you mean <Link href={`/search?q=${encodeURIComponent(meant)}`}>{meant}</Link>?{" "}
        </>
      )}
      Leases that have ended are not searched here:{" "}
      <Link href={pastOf(text)}>search past leases</Link>
      {isId.test(text) ? (
        <>
          , or <Link href={at("leases", text)}>open the lease with this id</Link>
        </>
      ) : null}
      .
    </EmptyNote>
  );
}

/** As the server makes them, or a client that brings its own. */
const isId = /^[\w.-]{12,}$/;

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
            {kind === "resource" || kind === "cluster" ? <StateDot about={hit.about} /> : null}
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
  cluster: "Clusters",
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
