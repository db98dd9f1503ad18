/**
 * The server is killed between an acquire and its reply, a hundred times over: whoever repeats the call
 * has one resource, the same that was lent before; nobody has another's; nothing is left over.
 */
import { expect, test } from "vitest";
import type { Lease } from "../src/api/schemas.ts";
import { TestServer } from "./cli-processes.ts";
import { CuttingProxy, type Moment } from "./cutting-proxy.suite.ts";
import { GoClient } from "./go-client.suite.ts";

const cutsWanted = 100;
const clientsPerKill = 6;
/** Some twenty are enough nearly always. */
const roundsMax = 200;
const resources = 8;

async function leases(url: string): Promise<Lease[]> {
  const reply = await fetch(`${url}/v1/leases?limit=1000`);
  return ((await reply.json()) as { items: Lease[] }).items;
}

/** Before the server has read it, while it commits, when it answers, when it has answered some. */
function anyMoment(): Moment {
  const count = 1 + Math.floor(Math.random() * clientsPerKill);
  return { at: Math.random() < 0.5 ? "request" : "reply", count };
}

test(`${cutsWanted} replies that a killed server never gave lend nothing twice and leak nothing`, async () => {
  await using server = await TestServer.start({ account: { count: resources } });
  await using proxy = await CuttingProxy.start(() => Number(new URL(server.url).port));
  let lentBefore = 0;
  // Killed too early each time, it would prove nothing.
  const provesNothing = () => proxy.cuts < cutsWanted || lentBefore <= cutsWanted / 10;
  for (let round = 1; provesNothing(); round++) {
    expect(round, "it is killed too early each time").toBeLessThan(roundsMax);
    const clients = Array.from({ length: clientsPerKill }, (_, index) => {
      // In a hurry, but with pauses long enough that the first to come back are not all of them.
      return new GoClient(proxy.url, `job-${round}-${index}`, 100);
    });
    const moment = anyMoment();
    const cut = proxy.cutAt(moment);
    const acquired = clients.map((client) =>
      client.acquire("account", "free", "busy", `request-of-${client.owner}`),
    );
    await cut;
    await server.stop("SIGKILL");
    proxy.drop();
    await server.start();
    lentBefore += (await leases(server.url)).length;
    proxy.resume();

    const names = (await Promise.all(acquired)).map(({ name }) => name);
    expect(new Set(names).size, `round ${round}: one for each`).toBe(clientsPerKill);
    const held = (await leases(server.url)).map(({ holder, claims }) => {
      return [holder, claims.map(({ resource }) => resource).join()];
    });
    const wanted = clients.map(({ owner }, index) => [owner, names[index]]);
    expect(held.sort(), `round ${round}: after ${JSON.stringify(moment)}`).toEqual(wanted.sort());

    await Promise.all(clients.map((client) => client.releaseAll("free")));
    for (const client of clients) client[Symbol.dispose]();
    expect(await leases(server.url)).toEqual([]);
  }
  using last = new GoClient(proxy.url, "last");
  expect(await last.metric("account")).toEqual({
    type: "account",
    current: { free: resources },
    owner: { "": resources },
  });
}, 240_000);
