/** The line of a note that helps most where only one line fits. */

/** What a janitor writes above the output of its command: how the command ended, not why. */
const janitorHead = /^The command (exited|was killed|was stopped) /;

/** The cause in the output of a cleaner is usually its last line. A person begins with it. */
export function noteReason(note: string): string {
  const lines = note.split("\n").flatMap((line) => line.trim() || []);
  const [first = ""] = lines;
  return janitorHead.test(first) ? (lines.at(-1) ?? first) : first;
}
