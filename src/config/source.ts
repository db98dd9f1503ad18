import { LineCounter, type Node } from "yaml";
import { problemsMax } from "./limits.ts";
import {
  type ConfigProblem,
  formatNumber,
  formatPath,
  inOrderOfPlace,
  type Path,
} from "./problem.ts";

/** A value in the file: what it is called, and where it stands. */
export interface Spot {
  readonly path: Path;
  /** Where an alias is used, rather than where its anchor is. */
  readonly offset: number;
  /** Never an alias; null where nothing is written. */
  readonly node: Node | null;
}

/** Where something is wrong: a spot, or a key that has no value worth reading. */
export type Place = Pick<Spot, "path" | "offset">;

/** The text of one file, and all that was found wrong with it. */
export class Source {
  readonly text: string;
  readonly #file: string;
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: ConfigProblem[] = [];
  readonly #refused = new Set<string>();
  #lines: LineCounter | undefined;

  constructor(text: string, file: string) {
    this.text = text;
    this.#file = file;
  }

  /** `state` is what is wrong as it is now; `hint` what to do about it. */
  refuse(place: Place, state: string, hint: string): void {
    if (this.#problems.length > problemsMax) return;
    // One complaint for each value: the first is the cause, another would be its consequence.
    if (this.#refused.has(valueAt(place))) return;
    this.#refused.add(valueAt(place));
    const name = formatPath(place.path);
    const message = `Cannot read ${name === "" ? "the file" : name}: ${state}`;
    this.#keep(this.#problems, place, message, hint);
  }

  /** In words that are not ours: those who know another program's look for these. */
  refuseAs(place: Place, message: string, hint: string): void {
    if (this.#refused.has(valueAt(place))) return;
    this.#keep(this.#problems, place, message, hint);
  }

  /** For what can be used, but hardly does what its writer wants. */
  warn(place: Place, state: string, hint: string): void {
    const name = formatPath(place.path);
    this.#keep(this.#warnings, place, `${name === "" ? "the file" : name}: ${state}`, hint);
  }

  lineOf({ offset }: Pick<Place, "offset">): number {
    return this.#position(offset).line;
  }

  problems(): readonly ConfigProblem[] {
    return this.#problems.toSorted(inOrderOfPlace);
  }

  warnings(): readonly ConfigProblem[] {
    return this.#warnings.toSorted(inOrderOfPlace);
  }

  #keep(list: ConfigProblem[], place: Place, message: string, hint: string): void {
    if (list.length > problemsMax) return;
    const { line, col: column } = this.#position(place.offset);
    const problem = { file: this.#file, line, column, path: formatPath(place.path), message, hint };
    if (list.length < problemsMax) {
      list.push(problem);
      return;
    }
    const many = `Cannot list the rest: there are more than ${formatNumber(problemsMax)} of these`;
    list.push({ ...problem, path: "", message: many, hint: "fix those above, then check again" });
  }

  /** Counted only once something is wrong: a file that is right needs no line numbers. */
  #position(offset: number): { line: number; col: number } {
    const within = Math.max(0, Math.min(offset, this.text.length));
    this.#lines ??= linesOf(this.text);
    return this.#lines.linePos(within);
  }
}

function valueAt({ path, offset }: Place): string {
  return `${offset} ${formatPath(path)}`;
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    lines.addNewLine(at + 1);
  }
  return lines;
}
