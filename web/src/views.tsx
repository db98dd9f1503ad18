/** The views by address. */
import type { ReactNode } from "react";
import { Audit } from "./pages/audit.tsx";
import { ClusterPage } from "./pages/cluster-page.tsx";
import { Clusters } from "./pages/clusters.tsx";
import { Events } from "./pages/events.tsx";
import { History } from "./pages/history.tsx";
import { HubsPage } from "./pages/hubs.tsx";
import { LeasePage } from "./pages/lease-page.tsx";
import { Leases } from "./pages/leases.tsx";
import { NoSuchPage } from "./pages/no-such-page.tsx";
import { OutOfService } from "./pages/out-of-service.tsx";
import { Overview } from "./pages/overview.tsx";
import { PoolPage } from "./pages/pool-page.tsx";
import { Queue } from "./pages/queue.tsx";
import { ResourcePage } from "./pages/resource-page.tsx";
import { SearchPage } from "./pages/search-page.tsx";
import { Spaces } from "./pages/spaces.tsx";
import { decoded } from "./router.ts";

export interface View {
  readonly title: string;
  readonly show: () => ReactNode;
}

const plain: Readonly<Record<string, View>> = {
  "": { title: "Pools", show: () => <Overview /> },
  queue: { title: "Queue", show: () => <Queue /> },
  leases: { title: "Leases", show: () => <Leases /> },
  out: { title: "Out of service", show: () => <OutOfService /> },
  clusters: { title: "Clusters", show: () => <Clusters /> },
  hubs: { title: "Hubs", show: () => <HubsPage /> },
  spaces: { title: "Spaces", show: () => <Spaces /> },
  history: { title: "History", show: () => <History /> },
  events: { title: "Events", show: () => <Events /> },
  audit: { title: "Audit", show: () => <Audit /> },
  search: { title: "Search", show: () => <SearchPage /> },
};

const named: Readonly<Record<string, (name: string) => ReactNode>> = {
  pools: (name) => <PoolPage key={name} name={name} />,
  clusters: (name) => <ClusterPage key={name} name={name} />,
  resources: (name) => <ResourcePage key={name} name={name} />,
  // A request and the lease that it becomes are one thing with one id.
  leases: (id) => <LeasePage key={id} id={id} />,
  requests: (id) => <LeasePage key={id} id={id} />,
};

export function viewAt(path: string): View {
  const [, kind = "", name, ...more] = path.split("/").map(decoded);
  // A segment may be any word, also one that every object has.
  const one = !name && Object.hasOwn(plain, kind) ? plain[kind] : undefined;
  if (one !== undefined) return one;
  const show = Object.hasOwn(named, kind) ? named[kind] : undefined;
  if (show === undefined || !name || more.length > 0) {
    return { title: "No such page", show: () => <NoSuchPage path={path} /> };
  }
  return { title: name, show: () => show(name) };
}
