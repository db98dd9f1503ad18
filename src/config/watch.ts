import { FileWatch, type WatchOptions } from "./file-watch.ts";
import { type ConfigText, parseText, readConfigText } from "./load.ts";
import type { ParsedConfig } from "./parse.ts";

export type ConfigWatch = FileWatch<ConfigText>;

/**
 * Calls back with the new configuration, good or bad, whenever the file's content has changed. A
 * file that is gone is a bad configuration. Resolves once it watches. `onChange` must not throw.
 */
export async function watchConfig(
  path: string,
  onChange: (config: ParsedConfig) => void,
  options: WatchOptions = {},
): Promise<ConfigWatch> {
  const files = {
    paths: [path],
    read: () => readConfigText(path),
    describe: (read: ConfigText) =>
      read.ok ? `text ${read.text}` : `problem ${read.problem.message}`,
    onChange: (read: ConfigText) => onChange(parseText(read, path)),
  };
  return new FileWatch(files, await readConfigText(path), options);
}
