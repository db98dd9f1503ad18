import type { SearchHit } from "../../../src/api/schemas.ts";
import { useSettled } from "../data/clock.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Link } from "../parts/link.tsx";
import { EmptyNote, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { addressOf, pastOf } from "../parts/search-box.tsx";
import { meantBy, pageOf } from "../parts/search-meant.ts";
import { lookOf } from "../parts/state-look.ts";
import { at, useFilter } from "../router.ts";
import { viewsFor } from "../view-list.ts";

const settleMs = 150;

export function SearchPage() {
  const [text] = useFilter("q");
  const [chosen] = useFilter("kind");
  const kind = kinds.find((one) => one === chosen);
  const wanted = useSettled(text.trim(), settleMs);
  const { data, error } = useAnswer(found(wanted, kind));
  return (
    <>
      <h1>{wanted === "" ? "Search" : `Search for “${wanted}”`}</h1>
      <ProblemNote error={error} />
      {kind === undefined ? null : (
        <p>
          <Link href={pageOf(wanted)}>Show all kinds</Link>
        </p>
      )}
      {data === undefined || data.items.length > 0 ? null : (
        <NothingFound text={wanted} name={data.meant} />
      )}
      {kindsOf(data?.items ?? []).map(([kind, hits]) => (
        <Found key={kind} {...{ kind, hits, text: wanted }} count={data?.counts[kind] ?? 0} />
      ))}
      {data?.more ? <EmptyNote title="There are more">Search for a longer text.</EmptyNote> : null}
    </>
  );
}

function NothingFound({ text, name }: { text: string; name: string | undefined }) {
  const meant = meantBy(text, name, viewsFor(useStore(whoami)));
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
          Did you mean <Link href={meant.href}>{meant.label}</Link>?{" "}
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
  const isPart = hits.length < count;
  const [chosen] = useFilter("kind");
  const all = lists[kind] ?? (chosen === kind ? undefined : "/search");
  return (
    <section aria-labelledby={`found-${kind}`}>
      <h2 id={`found-${kind}`}>
        {headings[kind]}{" "}
        <small>
          {isPart ? `first ${grouped(hits.length)} of ${grouped(count)}` : grouped(hits.length)}
          {isPart && all === undefined ? ": add a word to see others" : ""}
        </small>
        {isPart && all !== undefined ? (
          <Link className="all" href={withKind(all, text, kind)}>
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
            {hit.match === undefined ? null : <q className="match">{hit.match}</q>}
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

const kinds = ["pool", "space", "hub", "cluster", "resource", "request", "lease"] as const;

/** The search itself lists those that have no view of their own. */
function withKind(view: string, text: string, kind: SearchHit["kind"]): string {
  const query = new URLSearchParams(view === "/search" ? { q: text, kind } : { q: text });
  return `${view}?${query}`;
}

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
