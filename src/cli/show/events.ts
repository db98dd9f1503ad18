import type { CliCommand } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { plain, printableJson } from "../terminal/text.ts";
import { wholeNumber } from "../values.ts";
import { eventLine } from "./event-line.ts";

interface Flags {
  readonly after?: number;
  readonly output: "table" | "json";
}

export const events: CliCommand = {
  options: [
    flag(
      "--after <number>",
      "start after this event, 0 for all stored events; default: only new events",
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    ),
    outputFlag("table", "json"),
  ],
  help: "\nStreams until Ctrl-C, also across server restarts. -o json prints one object per line.",
  async run({ client, flags, print, note }) {
    const { after, output } = flags<Flags>();
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => stop.abort(new Interrupted(exitCodeOfSignal(signal))));
    }
    await client.config(); // A wrong address fails at once. Later outages are retried.
    let isRetrying = false;
    const onRetry = ({ message }: Error) => {
      if (!isRetrying) note(`berth: ${plain(message)}; retrying`);
      isRetrying = true;
    };
    const onOpen = () => {
      isRetrying = false;
    };
    for await (const event of client.events({ after, signal: stop.signal, onRetry, onOpen })) {
      print(output === "json" ? printableJson(event) : eventLine(event));
    }
    stop.signal.throwIfAborted();
    return undefined;
  },
};
