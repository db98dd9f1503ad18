import type { KeepAliveOptions } from "../../client/keep-alive.ts";
import { plain } from "../terminal/text.ts";
import type { CommandProcess } from "./command-process.ts";

type Notice = Parameters<NonNullable<KeepAliveOptions["onNotice"]>>[0];

/** Passes a notice of the server on: one line in the log, and SIGTERM for the command. */
export class NoticeToCommand {
  readonly #note: (text: string) => void;
  readonly #name: string;
  #child: Pick<CommandProcess, "signal"> | undefined;
  #isGiven = false;

  constructor(note: (text: string) => void, name: string) {
    this.#note = note;
    this.#name = name;
  }

  readonly given = ({ endsBy, reason }: Notice): void => {
    const why = plain(reason);
    this.#note(`berth: NOTICE. The lease ends by ${endsBy}: ${why}; stopping ${this.#name}`);
    this.#isGiven = true;
    this.#child?.signal("SIGTERM");
  };

  /** A notice may have come before the command was started. */
  started(child: Pick<CommandProcess, "signal">): void {
    this.#child = child;
    if (this.#isGiven) child.signal("SIGTERM");
  }
}
