import type { AttentionItem, Subject } from "../../../src/api/attention-schemas.ts";
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
          <i aria-hidden="true" /> All is well <small>Nothing needs you now.</small>
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
        <Trouble key={item.code} item={item} />
      ))}
    </ul>
  );
}

function Trouble({ item }: { item: AttentionItem }) {
  const { code, severity, summary, since, advice } = item;
  const view = views[code];
  return (
    <li className={`trouble ${severity}`} data-row>
      <i aria-hidden="true" />
      <div>
        <p className="trouble-what">
          <strong>
            <span className="hidden">{severityWords[severity] ?? ""} </span>
            {summary}
          </strong>
          {since === null ? null : (
            <span className="faint">
              {" "}
              for <Age since={since} />
            </span>
          )}
        </p>
        <Subjects item={item} />
      </div>
      <p className="trouble-advice">
        {advice}. {view === undefined ? null : <Link href={view.href}>{view.label}</Link>}
      </p>
    </li>
  );
}

const severityWords: Readonly<Record<string, string>> = {
  error: "Error:",
  warning: "Warning:",
  notice: "Notice:",
};

/** Where somebody looks next. */
const views: Readonly<Record<string, { readonly href: string; readonly label: string }>> = {
  waits_long: { href: "/queue?sort=wait", label: "Show the queue" },
  quarantined: { href: "/out", label: "Show them" },
  not_cleaned: { href: "/out", label: "Show them" },
  quota_reached_long: { href: "/spaces", label: "Show the spaces" },
  cluster_destroy_stuck: { href: "/clusters", label: "Show the clusters" },
  cluster_fails: { href: "/clusters", label: "Show the clusters" },
  cluster_orphaned: { href: "/clusters", label: "Show them" },
};

/** More are in the view that the advice links to. */
const namedMax = 3;

function Subjects({ item: { about, count } }: { item: AttentionItem }) {
  const shown = about.slice(0, namedMax);
  return (
    <ul className="trouble-about">
      {shown.map((subject) => (
        <li key={`${subject.kind} ${subject.name} ${subject.text}`}>
          <Name subject={subject} /> <span>{subject.text}</span>
        </li>
      ))}
      {count > shown.length ? (
        <li className="faint">and {grouped(count - shown.length)} more</li>
      ) : null}
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
  const view = kinds[kind];
  return view === undefined ? <b>{name}</b> : <Link href={at(view, name)}>{name}</Link>;
}
