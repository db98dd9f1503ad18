/** Where in the file's structure: keys by name, items of a list by number from 0. */
export type Path = readonly (string | number)[];

/** One thing that is wrong in a configuration file, with the place and the way to fix it. */
export interface ConfigProblem {
  readonly file: string;
  /** From 1, as editors count; 0 if the file could not be read at all. */
  readonly line: number;
  /** From 1, in UTF-16 units, as editors count; 0 if the file could not be read at all. */
  readonly column: number;
  /** Such as `pools.aws.ttl`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
  /** What to do now. */
  readonly hint: string;
}

/** The form that compilers use, so that terminals and editors make a link of it. */
export function formatProblem(problem: ConfigProblem): string {
  return `${place(problem)}: ${problem.message} (${problem.hint})`;
}

export function formatWarning(warning: ConfigProblem): string {
  return `${place(warning)}: warning: ${warning.message} (${warning.hint})`;
}

function place({ file, line, column }: ConfigProblem): string {
  return line === 0 ? file : `${file}:${line}:${column}`;
}

export function inOrderOfPlace(a: ConfigProblem, b: ConfigProblem): number {
  return a.line - b.line || a.column - b.column;
}

const plainKey = /^[A-Za-z0-9_-]+$/;

/** `pools.aws.members[2]`; a key that would be misread is quoted: `pools["1.10"].ttl`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!plainKey.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

const quotedLengthMax = 60;

/** Text as it is shown in a message: quoted, on one line, and short. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

export function shorten(text: string): string {
  return text.length <= quotedLengthMax ? text : `${text.slice(0, quotedLengthMax)}…`;
}

/** `1,000,000`: limits are large, and are read by people. */
export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}
