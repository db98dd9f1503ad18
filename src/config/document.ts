/** The YAML document: its text, its places, and the problems that refer to them. */
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { JanitorPrograms } from "./janitor-programs.ts";
import { fileBytesMax, problemsMax, unfoldedMax } from "./limits.ts";
import { mayBeSecret } from "./secret-places.ts";
import { quoted, visible, withArticle, withoutPasswords } from "./shown-text.ts";

/**
 * The text as a tree of nodes that know where they stand.
 *
 * Keys are taken as written, so that a pool may be called 1.10. Keys written twice are looked for
 * when a map is read: the library compares each with each, which took 9 seconds instead of 0.2 for
 * 20,000 of them, and does not tell where the first one was.
 */
export class ConfigDocument {
  readonly source: Source;
  /** Where a second document starts; undefined if there is only one. */
  readonly secondAt: number | undefined;
  readonly #document: Document.Parsed;
  #targets: ReadonlyMap<Node, Node | undefined> | undefined;
  readonly #read = new Set<Node>();
  #unfolded = 0;

  constructor(source: Source, document: Document.Parsed, secondAt: number | undefined) {
    this.source = source;
    this.secondAt = secondAt;
    this.#document = document;
  }

  root(): Spot {
    return this.spot([], this.#document.contents, 0);
  }

  /** Follows an alias to what it stands for. */
  spot(path: Path, node: Node | null, offsetOtherwise: number): Spot {
    const offset = node?.range?.[0] ?? offsetOtherwise;
    if (!isAlias(node)) return { path, offset, node };
    const target = this.#targetOf(node);
    if (target === undefined) {
      const name = mayBeSecret(path) ? "that" : visible(shorten(node.source));
      const hint = `quote a text that begins with *, or write the anchor &${name} above this line`;
      this.source.refuse({ path, offset }, `no anchor is called ${name}`, hint);
    }
    return { path, offset, node: target ?? null };
  }

  /**
   * False once aliases have unfolded to too much: ten nested ones to lists of ten are ten thousand
   * million values in a few hundred bytes. What is read for the first time is bounded by the file.
   */
  mayRead(collection: YAMLMap | YAMLSeq, { offset }: Pick<Spot, "offset">): boolean {
    if (!this.#read.has(collection)) {
      this.#read.add(collection);
      return true;
    }
    const hadRoom = this.#unfolded <= unfoldedMax;
    this.#unfolded += collection.items.length;
    if (this.#unfolded <= unfoldedMax) return true;
    const state = `its aliases unfold to more than ${formatNumber(unfoldedMax)} values`;
    if (hadRoom) this.source.refuse({ path: [], offset }, state, "use fewer aliases");
    return false;
  }

  /** One pass for all aliases: the library's own search takes one for each. */
  #targetOf(alias: Node): Node | undefined {
    this.#targets ??= aliasTargets(this.#document);
    return this.#targets.get(alias);
  }
}

function aliasTargets(document: Document.Parsed): Map<Node, Node | undefined> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node | undefined>();
  visit(document, {
    Alias: (_, alias) => void targets.set(alias, anchors.get(alias.source)),
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Returns undefined, with the reasons in the source, if the first document is not good YAML. */
export function openDocument(source: Source): ConfigDocument | undefined {
  if (Buffer.byteLength(source.text) > fileBytesMax) {
    source.refuse({ path: [], offset: 0 }, tooLarge.state, tooLarge.hint);
    return undefined;
  }
  const document = parseDocument(source.text, {
    stringKeys: true,
    uniqueKeys: false,
    schema: "core", // Even below `%YAML 1.1`, where `no` would be false.
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "error", // "silent" would let a second document pass unnoticed.
  });
  const found = [...document.errors, ...document.warnings];
  const second = found.find(({ code }) => code === "MULTIPLE_DOCS");
  const errors = found.filter((error) => error !== second);
  // Broken nesting makes an error for each level, and a tab for what stands around it: the first
  // cause is the one to fix.
  const cause = errors.find(({ code }) => causes.has(code));
  for (const error of cause === undefined ? errors : [cause]) refuseSyntax(source, error);
  return errors.length === 0 ? new ConfigDocument(source, document, second?.pos[0]) : undefined;
}

const causes: ReadonlySet<ErrorCode> = new Set(["RESOURCE_EXHAUSTION", "TAB_AS_INDENT"]);

/** Refuses a second document: nobody would notice that it is not used. */
export function refuseSecondDocument({ source, secondAt: offset }: ConfigDocument): void {
  if (offset === undefined) return;
  const hint = "keep one, and remove the --- between them";
  source.refuse({ path: [], offset }, "a second document starts here", hint);
}

export const tooLarge = {
  state: `it is larger than the limit of ${formatNumber(fileBytesMax)} bytes`,
  hint: "write count instead of members where the names do not matter",
};

type Advice = readonly [state: string, hint: string];

const adviceByCode: Partial<Readonly<Record<ErrorCode, Advice>>> = {
  TAB_AS_INDENT: ["a tab is used to indent", "use spaces"],
  NON_STRING_KEY: ["a key is neither a word nor a number", "write the key as plain text"],
  RESOURCE_EXHAUSTION: ["it is nested too deeply", "look for a bracket that is never closed"],
  TAG_RESOLVE_FAILED: ["no such tag is known", "quote a text that begins with !"],
  BAD_DQ_ESCAPE: ["an escape in a quoted text is not YAML's", "write \\\\ for a backslash"],
};

function refuseSyntax(source: Source, { code, message, pos: [offset] }: YAMLError): void {
  // Behind a colon the library repeats what the file has there, which may be a secret.
  const [summary = message] = message.split(": ", 1);
  const otherwise: Advice = [decapitalise(summary), "check indentation, quotes and brackets here"];
  const [state, hint] = adviceByCode[code] ?? otherwise;
  source.refuse({ path: [], offset }, state, hint);
}

function decapitalise(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

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
  /** Undefined: the text is not a file of this machine. */
  readonly programs: JanitorPrograms | undefined;
  readonly #file: string;
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: ConfigProblem[] = [];
  readonly #refused = new Set<string>();
  #lines: LineCounter | undefined;

  constructor(text: string, file: string, programs?: JanitorPrograms) {
    this.text = text;
    this.programs = programs;
    this.#file = file;
  }

  /** `state` is what is wrong as it is now; `hint` what to do about it. */
  refuse(place: Place, state: string, hint: string): void {
    if (this.#problems.length > problemsMax) return;
    // One complaint for each value: the first is the cause, another would be its consequence.
    if (this.#refused.has(valueAt(place))) return;
    this.#refused.add(valueAt(place));
    this.#refuse(place, state, hint);
  }

  /** For a value that names another file, in which several things can be wrong. */
  refuseInside(place: Place, state: string, hint: string): void {
    const key = `${valueAt(place)} ${state}`;
    if (this.#refused.has(key) || this.#refused.has(valueAt(place))) return;
    this.#refused.add(key);
    this.#refuse(place, state, hint);
  }

  #refuse(place: Place, state: string, hint: string): void {
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

/** What a value should have been, in the words of a message. */
export interface Expected {
  /** A noun that goes with "a". */
  readonly title: string;
  readonly hint: string;
}

/** A kind of text that a schema describes. */
export interface TextKind extends Expected {
  /** By a compiled schema, which takes a fortieth of the time that one read anew takes. */
  readonly accepts: (value: unknown) => value is string;
}

/** Says that a value is not what it should be, and shows it as its writer wrote it. */
export function refuseValue(source: Source, spot: Spot, { title, hint }: Expected): void {
  const { node } = spot;
  if (isNothing(node)) source.refuse(spot, "it is empty", hint);
  else source.refuse(spot, `${describeAt(spot)} is not ${withArticle(title)}`, hint);
}

function describeAt({ path, node }: Spot): string {
  return isScalar(node) && mayBeSecret(path) ? "it" : describe(node);
}

function isNothing(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && !node.source);
}

/** The value as its writer wrote it, if it is short. */
export function describe(node: Node | null): string {
  if (isMap(node)) return "a map";
  if (isSeq(node)) return "a list";
  if (!isScalar(node)) return "this";
  return typeof node.value === "string" ? quote(node.value) : literal(node);
}

/** `1.10` as it stands in the file, where its value is 1.1. */
function literal(scalar: Scalar): string {
  return visible(shorten(scalar.source ?? String(scalar.value)));
}

/** Words that YAML 1.1 reads as true or false, and with it many tools that pass files on. */
export const oldBoolean = /^(?:y|yes|n|no|on|off)$/i;

/** Undefined, with the reason in the source, unless the value is text of this kind. */
export function readText(source: Source, spot: Spot, kind: TextKind): string | undefined {
  const { node } = spot;
  const value = isScalar(node) ? node.value : undefined;
  if (isScalar(node) && (typeof value === "number" || typeof value === "boolean")) {
    const written = literal(node);
    const isSecret = mayBeSecret(spot.path);
    const how = isSecret ? "quote it" : `quote it: ${quote(written)}`;
    const hint = kind.accepts(written) ? how : kind.hint;
    const shown = isSecret ? "it" : written;
    source.refuse(spot, `${shown} is a ${typeof value}, not ${withArticle(kind.title)}`, hint);
    return undefined;
  }
  if (!kind.accepts(value)) {
    refuseValue(source, spot, kind);
    return undefined;
  }
  if (isScalar(node) && node.type === Scalar.PLAIN && oldBoolean.test(value)) {
    const state = `other readers of YAML take ${value} for true or false`;
    source.warn(spot, state, `quote it: ${quote(value)}`);
  }
  return value;
}

/** Undefined, with the reason in the source, unless it is a whole number within these. */
export function readWhole(
  source: Source,
  spot: Spot,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  const hint = `write ${formatNumber(min)} to ${formatNumber(max)}`;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    refuseValue(source, spot, { title: "whole number", hint: `${hint}, without quotes` });
    return undefined;
  }
  if (value >= min && value <= max) return value;
  const state = value < min ? `less than ${formatNumber(min)}` : `more than ${formatNumber(max)}`;
  source.refuse(spot, `${describe(spot.node)} is ${state}`, hint);
  return undefined;
}

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
  return quoted(shorten(withoutPasswords(text)));
}

export function shorten(text: string): string {
  return text.length <= quotedLengthMax ? text : `${text.slice(0, quotedLengthMax)}…`;
}

/** `1,000,000`: limits are large, and are read by people. */
export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}
