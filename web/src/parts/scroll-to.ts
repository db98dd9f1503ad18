import { useEffect } from "react";

/** A section comes later than the address that names it, so the browser does not find it by itself. */
export function useScrollTo(id: string): void {
  useEffect(() => {
    if (location.hash === `#${id}`) document.getElementById(id)?.scrollIntoView();
  }, [id]);
}
