/** Debian's Chromium for the tests of the page; where there is none they are left out, and say so. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Undefined: there is none. */
export const chromiumPath = [process.env["CHROMIUM_PATH"] ?? "", ...places].find((path) =>
  existsSync(path),
);

export const howToGetChromium =
  "Install it (on Debian: apt-get install chromium), or name it in CHROMIUM_PATH.";

/** It talks to nobody but the server under test. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error(`Cannot start Chromium: there is none. ${howToGetChromium}`);
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      // A name that is not this machine's own, for a page that a stranger could have opened.
      "--host-resolver-rules=MAP berth.test 127.0.0.1",
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      // For the measurements: a heap that is collected when we say so.
      ...["--js-flags=--expose-gc", "--enable-precise-memory-info"],
    ],
  });
}
