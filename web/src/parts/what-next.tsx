import type { ReactNode } from "react";
import type { Problem } from "../../../src/api/problem.ts";
import { at } from "../router.ts";
import { Link } from "./link.tsx";

const orSearch = (
  <>
    , or press <kbd>/</kbd> to search
  </>
);
const amongPools = (
  <>
    Start from <Link href="/">all pools</Link>
    {orSearch}.
  </>
);
const amongLeases = (
  <>
    See <Link href="/leases">who holds</Link> and <Link href="/queue">who waits</Link>
    {orSearch}.
  </>
);
const isOver = "Nothing is left to be done: it is over.";

/** The server's hints speak of its API; who looks at the page is told of what is on it. */
const byCode: Readonly<Record<string, ReactNode>> = {
  pool_not_found: amongPools,
  resource_not_found: amongPools,
  request_not_found: amongLeases,
  lease_not_found: amongLeases,
  request_ended: isOver,
  lease_ended: isOver,
  request_granted: "It waits no longer. To take back what it has, end its lease.",
};

const viewByCode: Readonly<Record<string, string>> = {
  pool_not_found: "pools",
  resource_not_found: "resources",
};

/** What to do about a "no". */
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
