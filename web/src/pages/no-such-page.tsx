import { Link } from "../parts/link.tsx";
import { EmptyNote } from "../parts/notes.tsx";

export function NoSuchPage({ path }: { path: string }) {
  return (
    <>
      <h1>No such page</h1>
      <EmptyNote title={`There is nothing at ${path}`}>
        Start from <Link href="/">all pools</Link>, <Link href="/queue">the queue</Link> or{" "}
        <Link href="/leases">all leases</Link>
        <span className="with-keys">
          , or press <kbd>/</kbd> to search
        </span>
        .
      </EmptyNote>
    </>
  );
}
