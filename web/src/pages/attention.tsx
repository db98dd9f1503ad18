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

/** With more kinds of trouble than this, each names less: the pools should stay in sight. */
const fewKinds = 3;

function Troubles({ items }: { items: readonly AttentionItem[] }) {
  if (items.length === 0) return null;
  const namedMax = items.length > fewKinds ? 2 : 3;
  return (
    <ul className="troubles">
      {items.map((item) => (
        <Trouble key={item.code} item={item} namedMax={namedMax} />
      ))}
    </ul>
  );
}

interface TroubleProps {
  readonly item: AttentionItem;
  /** More are in the view that the advice links to. */
  readonly namedMax: number;
}

function Trouble({ item, namedMax }: TroubleProps) {
  const { code, severity, summary, since, advice } = item;
  const view = views[code] ?? viewOf(item.about);
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
        <Subjects item={item} namedMax={namedMax} />
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

/** The page of the one thing that it is about. */
function viewOf([subject, ...others]: readonly Subject[]) {
  const view = subject === undefined ? undefined : kinds[subject.kind];
  if (subject === undefined || view === undefined || others.length > 0) return undefined;
  return { href: at(view, subject.name), label: "Show it" };
}

/** On a phone one is named: the pools should stay in sight there too. */
function Subjects({ item: { about, count }, namedMax }: TroubleProps) {
  const shown = about.slice(0, namedMax);
  return (
    <ul className="trouble-about">
      {shown.map((subject, index) => (
        <li
          key={`${subject.kind} ${subject.name} ${subject.text}`}
          className={index === 0 ? undefined : "optional"}
        >
          <Name subject={subject} /> <span>{subject.text}</span>
        </li>
      ))}
      <More className="optional" count={count - shown.length} />
      <More className="on-phone" count={count - Math.min(1, shown.length)} />
    </ul>
  );
}

function More({ className, count }: { className: string; count: number }) {
  return count > 0 ? <li className={`faint ${className}`}>and {grouped(count)} more</li> : null;
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
