import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { go } from "../router.ts";
import { cutOff } from "./name.tsx";

/**
 * A link within the page. A plain click loads no new document; other clicks work as in any browser.
 */
export function Link({
  href,
  keepScroll = false,
  ...rest
}: { href: string; keepScroll?: boolean } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent) => {
    const plain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
    // The browser itself finds a place within the view.
    if (!plain || event.altKey || href.startsWith("#")) return;
    event.preventDefault();
    go(href, { keepScroll });
  };
  return <a href={href} onClick={follow} {...cutOff(rest.children)} {...rest} />;
}
