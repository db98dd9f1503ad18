import { FileHashes } from "./file-hashes.ts";
import { FileWatch, type WatchOptions } from "./file-watch.ts";
import { type ConfigText, parseText, readConfigText } from "./load.ts";
import type { ParsedConfig } from "./parse.ts";
import { referencesOf } from "./revision.ts";

/** The file, and hashes of the files that decide how its clusters are made. */
interface Watched {
  readonly read: ConfigText;
  readonly references: string;
}

export type ConfigWatch = FileWatch<Watched>;

/**
 * Calls back with the new configuration, good or bad, whenever the file's content has changed, or
 * that of a file that a template refers to: a program, a credential. A file that is gone is a bad
 * configuration. Resolves once it watches. `onChange` must not throw.
 */
export async function watchConfig(
  path: string,
  onChange: (config: ParsedConfig) => void,
  options: WatchOptions = {},
): Promise<ConfigWatch> {
  const references = new ReferenceReader(path);
  const readAll = async (): Promise<Watched> => {
    const read = await readConfigText(path);
    return { read, references: references.hashesFor(read) };
  };
  const files = {
    paths: [path],
    read: readAll,
    describe: ({ read, references: hashes }: Watched) =>
      read.ok ? `text ${hashes} ${read.text}` : `problem ${read.problem.message}`,
    onChange: ({ read }: Watched) => onChange(parseText(read, path)),
  };
  return new FileWatch(files, await readAll(), options);
}

/** Knows which files a configuration refers to, and reads it again only when its text has changed. */
class ReferenceReader {
  readonly #path: string;
  readonly #hashes = new FileHashes();
  #text = "";
  #files: readonly string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  hashesFor(read: ConfigText): string {
    if (!read.ok) return "";
    if (read.text !== this.#text) {
      this.#text = read.text;
      this.#files = this.#filesOf(read);
    }
    return this.#files.map((file) => this.#hashes.of(file) ?? "missing").join(" ");
  }

  #filesOf(read: ConfigText): readonly string[] {
    // Most files have no templates, and reading one takes its time. JSON has all on one line.
    if (!read.ok || !/\btemplates["']?\s*:/.test(read.text)) return [];
    const parsed = parseText(read, this.#path);
    return parsed.ok ? parsed.templates.flatMap((each) => referencesOf(each).files) : [];
  }
}
