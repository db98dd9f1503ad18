import { useId, useState } from "react";
import type { AttentionItem, Subject } from "../../../src/api/attention-schemas.ts";
import { sinceWords } from "../../../src/api/since-words.ts";
import { useAnswer } from "../data/query.ts";
import { attention } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";

/** What needs somebody, before anything else. One quiet line if all is well. */
export function Attention() {
  const { data } = useAnswer(attention);
  if (data === undefined) return null;
  const urgent = data.items.filter(({ severity }) => severity !== "notice");
  const notices = data.items.filter(({ severity }) => severity === "notice");
  return (
    <section className="attention" aria-labelledby="attention-title">
      {urgent.length === 0 ? (
        <h2 id="attention-title" className="well">
          <i aria-hidden="true" /> All is well{" "}
          <small>
            {notices.length === 0
              ? "Nothing needs you now."
              : "Nothing is urgent; there are warnings."}
          </small>
        </h2>
      ) : (
        <h2 id="attention-title">
          Needs attention <small>{urgent.length}</small>
        </h2>
      )}
      <Troubles items={urgent} />
      {notices.length === 0 ? null : (
        <details className="notices">
          <summary>{notices.map(({ summary }) => summary).join(" · ")}</summary>
          <Troubles items={notices} />
        </details>
      )}
    </section>
  );
}

function Troubles({ items }: { items: readonly AttentionItem[] }) {
  if (items.length === 0) return null;
  return (
    <ul className="troubles">
      {items.map((item) => (
        <Trouble key={item.code} item={item} isAlone={items.length === 1} />
      ))}
    </ul>
  );
}

/** One line, so that the pools stay in sight. All that is known, and what to do, on demand. */
function Trouble({ item, isAlone }: { item: AttentionItem; isAlone: boolean }) {
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? isAlone;
  const more = useId();
  const { code, severity, summary, since, advice, about, count } = item;
  const view = viewOf(item);
  const [first] = about;
  return (
    <li className={`trouble ${severity}`} data-row>
      <i aria-hidden="true" />
      <p className="trouble-what">
        <strong>
          <span className="hidden">{severityWords[severity] ?? ""} </span>
          {summary}
        </strong>
        {since === null ? null : (
          <>
            {" "}
            <span className="faint unbroken">
              {sinceWords(code, count)} <Age since={since} />
            </span>
          </>
        )}
      </p>
      <p className="trouble-first">
        {isOpen || first === undefined ? null : (
          <>
            <Name subject={first} /> {first.text}{" "}
            {view === undefined ? null : (
              <Link className="on-phone" href={view.href}>
                {view.label}
              </Link>
            )}
          </>
        )}
      </p>
      <p className="trouble-do">
        {view === undefined ? null : (
          <Link className="not-on-phone" href={view.href}>
            {view.label}
          </Link>
        )}
        <button
          type="button"
          className="quiet"
          aria-label={`${isOpen ? "Less" : "More"} about: ${summary}`}
          aria-expanded={isOpen}
          aria-controls={more}
          onClick={() => setChosen(!isOpen)}
        >
          {isOpen ? "Less" : "More"}
        </button>
      </p>
      <div id={more} className="trouble-more" hidden={!isOpen}>
        <Subjects item={item} />
        <p className="trouble-advice">
          {advice}.{" "}
          {view === undefined ? null : (
            <Link className="on-phone" href={view.href}>
              {view.label}
            </Link>
          )}
        </p>
      </div>
    </li>
  );
}

const severityWords: Readonly<Record<string, string>> = {
  error: "Error:",
  warning: "Warning:",
  notice: "Notice:",
};

const them = "Show them";

/** Where somebody looks next. */
const views: Readonly<Record<string, { readonly href: string; readonly label: string }>> = {
  waits_long: { href: "/queue", label: "Show the queue" },
  quarantined: { href: "/out", label: them },
  nothing_to_lend: { href: "/out", label: them },
  not_cleaned: { href: "/out", label: them },
  quota_reached_long: { href: "/spaces", label: "Show the spaces" },
  cluster_destroy_stuck: { href: "/clusters", label: "Show the clusters" },
  cluster_fails: { href: "/clusters", label: "Show the clusters" },
  cluster_orphaned: { href: "/clusters", label: them },
  hub_unreachable: { href: "/hubs", label: "Show the hubs" },
};

function viewOf({ code, count, about }: AttentionItem) {
  const view = views[code];
  if (view === undefined) return viewOfOne(about);
  const [first] = about;
  if (code === "waits_long" && count === 1 && first !== undefined) {
    // The longest wait first, which is the request that it is about.
    const query = new URLSearchParams({ group: "none", q: first.name });
    return { ...view, href: `/queue?${query}` };
  }
  return view.label === them && count === 1 ? { ...view, label: "Show it" } : view;
}

/** The page of the one thing that it is about. */
function viewOfOne([subject, ...others]: readonly Subject[]) {
  const view = subject === undefined ? undefined : kinds[subject.kind];
  if (subject === undefined || view === undefined || others.length > 0) return undefined;
  return { href: at(view, subject.name), label: "Show it" };
}

/** More are in the view that the line links to. */
const namedMax = 5;

function Subjects({ item: { code, about, count } }: { item: AttentionItem }) {
  const shown = about.slice(0, namedMax);
  const more = count - shown.length;
  return (
    <ul className="trouble-about">
      {shown.map((subject) => (
        <li key={`${subject.kind} ${subject.name} ${subject.text}`}>
          <Name subject={subject} /> <span>{subject.text}</span>
          {subject.since === null || count === 1 ? null : (
            <>
              {" "}
              <span className="faint unbroken">
                {sinceWords(code, 1)} <Age since={subject.since} />
              </span>
            </>
          )}
        </li>
      ))}
      {more > 0 ? <li className="faint">and {grouped(more)} more</li> : null}
    </ul>
  );
}

const kinds: Readonly<Record<string, string>> = {
  pool: "pools",
  resource: "resources",
  cluster: "clusters",
};

function Name({ subject: { kind, name } }: { subject: Subject }) {
  if (name === "") return null;
  if (kind === "space") return <Link href={`/spaces#${encodeURIComponent(name)}`}>{name}</Link>;
  if (kind === "hub") return <Link href="/hubs">{name}</Link>;
  const view = kinds[kind];
  return view === undefined ? <b>{name}</b> : <Link href={at(view, name)}>{name}</Link>;
}
