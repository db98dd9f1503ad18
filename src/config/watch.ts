import { FileHashes } from "./file-hashes.ts";
import { FileWatch, type WatchOptions } from "./file-watch.ts";
import { type ConfigText, parseText, readConfigText, type WatchedSecrets } from "./load.ts";
import type { ParsedConfig } from "./parse.ts";
import { type References, referencesOf } from "./revision.ts";

/** The file, and hashes of the files and Secrets that decide how its clusters are made. */
interface Watched {
  readonly read: ConfigText;
  readonly references: string;
}

export type ConfigWatch = FileWatch<Watched>;

export interface ConfigWatchOptions extends WatchOptions {
  /** Absent: Secrets of Kubernetes are not looked at. */
  readonly secrets?: WatchedSecrets | undefined;
}

/**
 * Calls back with the new configuration, good or bad, whenever the file's content has changed, or
 * that of a file or Secret that a template refers to: a program, a credential. A file that is gone
 * is a bad configuration. Resolves once it watches and has read the Secrets. `onChange` must not throw.
 */
export async function watchConfig(
  path: string,
  onChange: (config: ParsedConfig) => void,
  { secrets, ...options }: ConfigWatchOptions = {},
): Promise<ConfigWatch> {
  const references = new ReferenceReader(path);
  const readAll = async (): Promise<Watched> => {
    const read = await readConfigText(path);
    const found = references.in(read);
    // An API server that does not answer must not delay a change of the file.
    void secrets?.refresh(found.secrets);
    return { read, references: references.hashesOf(found, secrets) };
  };
  await secrets?.refresh(references.in(await readConfigText(path)).secrets);
  const files = {
    paths: [path],
    read: readAll,
    describe: ({ read, references: hashes }: Watched) =>
      read.ok ? `text ${hashes} ${read.text}` : `problem ${read.problem.message}`,
    onChange: ({ read }: Watched) => onChange(parseText(read, path, secrets)),
  };
  return new FileWatch(files, await readAll(), options);
}

type Found = Pick<References, "files" | "secrets">;

const nothing: Found = { files: [], secrets: [] };

/** Knows what a configuration refers to, and reads it again only when its text has changed. */
class ReferenceReader {
  readonly #path: string;
  readonly #hashes = new FileHashes();
  #text = "";
  #found = nothing;

  constructor(path: string) {
    this.#path = path;
  }

  in(read: ConfigText): Found {
    if (!read.ok) return nothing;
    if (read.text !== this.#text) {
      this.#text = read.text;
      this.#found = this.#read(read);
    }
    return this.#found;
  }

  hashesOf({ files, secrets }: Found, watched: WatchedSecrets | undefined): string {
    const inFiles = files.map((file) => this.#hashes.of(file) ?? "missing");
    const inSecrets = secrets.map((each) => watched?.hashOf(each) ?? "");
    return [...inFiles, ...inSecrets].join(" ");
  }

  #read(read: ConfigText): Found {
    // Most files have no templates, and reading one takes its time. JSON has all on one line.
    if (!read.ok || !/\btemplates["']?\s*:/.test(read.text)) return nothing;
    const parsed = parseText(read, this.#path);
    if (!parsed.ok) return nothing;
    const all = parsed.templates.map((each) => referencesOf(each));
    return {
      files: all.flatMap(({ files }) => files),
      secrets: all.flatMap(({ secrets }) => secrets),
    };
  }
}
