import { useAnswer } from "../data/query.ts";
import { allHubs } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";

const tabs = [
  ["/clusters", "Clusters"],
  ["/hubs", "Hubs"],
] as const;

/** The clusters, and where they are made. Nothing while there are no hubs. */
export function ClusterTabs({ here }: { here: (typeof tabs)[number][0] }) {
  const { data } = useAnswer(allHubs);
  if (here === "/clusters" && (data === undefined || data.length === 0)) return null;
  return (
    <nav className="tabs" aria-label="Clusters and hubs">
      {tabs.map(([href, label]) => (
        <Link key={href} href={href} aria-current={href === here ? "page" : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
