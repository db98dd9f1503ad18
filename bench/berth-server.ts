/** Starts a real server with the benchmark's data folder and configuration, and prints its port. */
import { serve } from "../src/server/main.ts";

const [data = "", config = "", journal] = process.argv.slice(2);
const running = await serve({
  data,
  config,
  memory: false,
  listen: "127.0.0.1:0",
  insecureListen: false,
  logLevel: "warn",
  ...(journal === undefined ? undefined : { journal }),
});
process.stdout.write(`${new URL(running.url).port}\n`);
process.once("SIGTERM", () => void running.stop().then(() => process.disconnect?.()));
process.on("message", () => {
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
