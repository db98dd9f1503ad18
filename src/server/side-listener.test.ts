import { expect, test } from "vitest";
import { healthAnswers, SideListener } from "./side-listener.ts";

test("healthAnswers() reports alive at once, and ready when it is", async () => {
  let ready = false;
  const address = { host: "127.0.0.1", port: 0 };
  const listener = await SideListener.start(
    "--health-listen",
    address,
    healthAnswers(() => ready),
  );
  const status = async (path: string) => (await fetch(`${listener.url}${path}`)).status;
  expect(await status("/healthz")).toBe(200);
  expect(await status("/healthz/ready")).toBe(404);
  ready = true;
  expect(await status("/healthz/ready")).toBe(200);
  await listener.close();
});
