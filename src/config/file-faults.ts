/** Why a file cannot be read, in the words of its writer. */
export interface Explanation {
  readonly state: string;
  readonly hint: string;
}

const explanations: Readonly<Record<string, Explanation>> = {
  ENOENT: { state: "there is no such file", hint: "check the path, or create the file" },
  ENOTDIR: { state: "a part of its path is not a directory", hint: "check the path" },
  EISDIR: { state: "it is a directory", hint: "name a file in it" },
  EACCES: { state: "this user may not read it", hint: "allow it, or run as another user" },
  ELOOP: { state: "its symbolic links go round in a circle", hint: "check where they point" },
};

export function explainFault(error: unknown): Explanation {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  return explanations[code] ?? { state: message, hint: "check the path and the disk" };
}
