import { go, usePlace, withFilters } from "../router.ts";
import { EmptyNote } from "./notes.tsx";

/** The filters that leave rows out of a list. */
const filters = { q: "", space: "", show: "", how: "", holder: "", pool: "", late: "", silent: "" };

/** A list is empty because of its filters. */
export function NoMatch({ title }: { title: string }) {
  const place = usePlace();
  return (
    <EmptyNote title={title}>
      Change the filter.{" "}
      <button type="button" onClick={() => go(withFilters(place, filters), { keepScroll: true })}>
        Clear it
      </button>
    </EmptyNote>
  );
}
