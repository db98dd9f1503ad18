import type { Whoami } from "../../../src/api/schemas.ts";
import { BerthClient } from "../../../src/client/berth-client.ts";

/** The server that this page came from. */
export const berth = new BerthClient({ url: location.origin });

/** How far the server's clock is ahead of this machine's: ages are shown in the server's time. */
let aheadMs = 0;

export function serverNowMs(): number {
  return Date.now() + aheadMs;
}

/** Reads this user's rights, and sets the clock by the server's time. */
export async function askWhoami(): Promise<Whoami> {
  const askedAt = Date.now();
  const whoami = await berth.whoami();
  aheadMs = Date.parse(whoami.now) - (askedAt + Date.now()) / 2;
  return whoami;
}
