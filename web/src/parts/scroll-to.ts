import { useEffect } from "react";
import { usePlace } from "../router.ts";

/** A section comes later than the address that names it, so the browser does not find it by itself. */
export function useScrollTo(id: string): void {
  const place = usePlace();
  // biome-ignore lint/correctness/useExhaustiveDependencies: links of the same view lead to it too.
  useEffect(() => {
    if (location.hash === `#${id}`) document.getElementById(id)?.scrollIntoView();
  }, [place, id]);
}
