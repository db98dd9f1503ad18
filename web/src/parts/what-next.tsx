import type { ReactNode } from "react";
import type { Problem } from "../../../src/api/problem.ts";
import { at, decoded } from "../router.ts";
import { Link } from "./link.tsx";

/** The last part of the address is what somebody looked for. */
export function OrSearch() {
  const name = decoded(location.pathname.split("/").at(-1) ?? "");
  return (
    <>
      , or <Link href={`/search?q=${encodeURIComponent(name)}`}>search for “{name}”</Link>
    </>
  );
}

const amongPools = (
  <>
    Start from <Link href="/">all pools</Link>
    <OrSearch />.
  </>
);
const amongLeases = (
  <>
    See <Link href="/leases">who holds</Link> and <Link href="/queue">who waits</Link>
    <OrSearch />.
  </>
);
const isOver = "It has ended; there is nothing to do.";

/** The server's hints name its API. These name links of the page instead. */
const byCode: Readonly<Record<string, ReactNode>> = {
  pool_not_found: amongPools,
  resource_not_found: amongPools,
  request_not_found: amongLeases,
  lease_not_found: amongLeases,
  request_ended: isOver,
  lease_ended: isOver,
  request_granted: "It already has a lease. To take its resources back, end the lease.",
};

const viewByCode: Readonly<Record<string, string>> = {
  pool_not_found: "pools",
  resource_not_found: "resources",
};

/** What to do after an error. */
export function WhatNext({ problem: { code, hint, facts } }: { problem: Problem }): ReactNode {
  const { nearest } = facts;
  const view = viewByCode[code];
  if (typeof nearest !== "string" || view === undefined) return byCode[code] ?? hint;
  return (
    <>
      Did you mean <Link href={at(view, nearest)}>{nearest}</Link>?
    </>
  );
}
