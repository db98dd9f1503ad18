import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { go } from "../router.ts";

/** A link within the page: a plain click stays on it, anything else does what browsers do. */
export function Link({
  href,
  ...rest
}: { href: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent) => {
    const plain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
    if (!plain || event.altKey) return;
    event.preventDefault();
    go(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}
