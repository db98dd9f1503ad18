import { expect, test } from "vitest";
import { scriptedServer } from "./scripted-server.suite.ts";
import { Transport } from "./transport.ts";

/** How many signals a signal remembers because they were made of it. */
function followers(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === "kDependantSignals",
  );
  const found: unknown = key && Reflect.get(signal, key);
  return typeof found === "object" && found !== null ? Number(Reflect.get(found, "size")) : 0;
}

test("Transport leaves nothing of a call behind with a signal that lives on", async () => {
  await using server = await scriptedServer({
    "GET /v1/pools": (_, response) => void response.end("{}"),
  });
  const { signal } = new AbortController();
  const transport = new Transport(server.url, fetch);
  for (let calls = 0; calls < 3; calls++) {
    await transport.send({ method: "GET", path: ["v1", "pools"], signal });
  }
  expect(followers(signal)).toBe(0);
  AbortSignal.any([signal]).addEventListener("abort", () => {});
  expect(followers(signal)).toBe(1); // It is still where this test looks.
});
