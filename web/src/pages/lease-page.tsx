import { useEffect } from "react";
import { Problem } from "../../../src/api/problem.ts";
import { useAnswer } from "../data/query.ts";
import { leaseOrRequest } from "../data/questions.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { at, go, usePlace } from "../router.ts";
import { EndedView } from "./ended-view.tsx";
import { EventsAbout } from "./event-list.tsx";
import { HeldView } from "./held-view.tsx";
import { WaitingView } from "./waiting-view.tsx";

/** One request from start to end: while it waits, while it is a lease, and after its end. */
export function LeasePage({ id }: { id: string }) {
  const { data, error } = useAnswer(leaseOrRequest(id));
  const over = error instanceof Problem && (error.status === 410 || error.status === 404);
  const isUnknown = error instanceof Problem && error.status === 404;
  const { path } = usePlace();
  // An ended one belongs to the list that led here.
  const waits = over ? path.startsWith("/requests/") : data?.granted === false;
  // The address follows, so that the bar above marks the list that it is in now.
  const isLease = data?.granted === true && path.startsWith("/requests/");
  const isRequest = data?.granted === false && path.startsWith("/leases/");
  useEffect(() => {
    if (isLease) go(at("leases", id), { replace: true });
    if (isRequest) go(at("requests", id), { replace: true });
  }, [isLease, isRequest, id]);
  const holder = data?.granted ? data.lease.holder : data?.request.holder;
  return (
    <>
      <Crumbs trail={[waits ? ["Queue", "/queue"] : ["Leases", "/leases"]]} />
      {over ? <EndedView id={id} holder={holder} problem={error} /> : <ProblemNote error={error} />}
      {over ? null : data === undefined ? (
        <Loading error={error} />
      ) : data.granted ? (
        <HeldView lease={data.lease} />
      ) : (
        <WaitingView request={data.request} />
      )}
      {isUnknown ? null : (
        <>
          <NoActionsNote />
          <EventsAbout key={id} subject={{ id }} />
        </>
      )}
    </>
  );
}
