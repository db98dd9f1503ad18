/** The variables that most programs need. The others may contain secrets. */
const inherited = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];

export function inheritedVariables(): Record<string, string> {
  return Object.fromEntries(
    inherited.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
