import type { CliCommand } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { plain } from "../terminal/text.ts";
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
      "begin behind this event, 0 for all that are kept; otherwise with what happens from now on",
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    ),
    outputFlag("table", "json"),
  ],
  help: "\nFollows until Ctrl-C, over restarts of the server. -o json prints one object per line.",
  async run({ client, flags, print, note }) {
    const { after, output } = flags<Flags>();
    const ended = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => ended.abort(new Interrupted(exitCodeOfSignal(signal))));
    }
    await client.config(); // A wrong address is told at once; later outages are waited for.
    let troubled = false;
    const onTrouble = ({ message }: Error) => {
      if (!troubled) note(`berth: ${plain(message)}; retrying`);
      troubled = true;
    };
    const onOpen = () => {
      troubled = false;
    };
    for await (const event of client.events({ after, signal: ended.signal, onTrouble, onOpen })) {
      print(output === "json" ? JSON.stringify(event) : eventLine(event));
    }
    ended.signal.throwIfAborted();
    return undefined;
  },
};
