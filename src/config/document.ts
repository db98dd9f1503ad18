import {
  type Document,
  type ErrorCode,
  isAlias,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { fileBytesMax, unfoldedMax } from "./limits.ts";
import { formatNumber, type Path, shorten } from "./problem.ts";
import type { Source, Spot } from "./source.ts";

/**
 * The text as a tree of nodes that know where they stand.
 *
 * Keys are taken as written, so that a pool may be called 1.10. Keys written twice are looked for
 * when a map is read: the library compares each with each, which took 9 seconds instead of 0.2 for
 * 20,000 of them, and does not tell where the first one was.
 */
export class ConfigDocument {
  readonly source: Source;
  readonly #document: Document.Parsed;
  #targets: ReadonlyMap<Node, Node | undefined> | undefined;
  readonly #read = new Set<Node>();
  #unfolded = 0;

  constructor(source: Source, document: Document.Parsed) {
    this.source = source;
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
      const name = shorten(node.source);
      const hint = `write &${name} at the value that is meant, above this line`;
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

/** Undefined, with the reasons in the source, unless the text is one YAML document. */
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
  const errors = [...document.errors, ...document.warnings];
  // Broken nesting makes an error for each level; the first cause is the one to fix.
  const depth = errors.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  for (const error of depth === undefined ? errors : [depth]) refuseSyntax(source, error);
  return errors.length === 0 ? new ConfigDocument(source, document) : undefined;
}

export const tooLarge = {
  state: `it is larger than the limit of ${formatNumber(fileBytesMax)} bytes`,
  hint: "write count instead of members where the names do not matter",
};

type Advice = readonly [state: string, hint: string];

const adviceByCode: Partial<Readonly<Record<ErrorCode, Advice>>> = {
  TAB_AS_INDENT: ["a tab is used to indent", "use spaces"],
  MULTIPLE_DOCS: ["a second document starts here", "keep one, and remove the --- between them"],
  NON_STRING_KEY: ["a key is neither a word nor a number", "write the key as plain text"],
  RESOURCE_EXHAUSTION: ["it is nested too deeply", "look for a bracket that is never closed"],
};

function refuseSyntax(source: Source, { code, message, pos: [offset] }: YAMLError): void {
  const otherwise: Advice = [decapitalise(message), "check indentation, quotes and brackets here"];
  const [state, hint] = adviceByCode[code] ?? otherwise;
  source.refuse({ path: [], offset }, state, hint);
}

function decapitalise(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
