/** Versions of OpenShift, as parameters, release images and hubs name them. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  /** Undefined: only the minor version is known. */
  readonly patch: number | undefined;
}

/** Of `4.20`, `4.20.3`, or of a release image; undefined if it does not say, as with a digest. */
export function versionIn(text: string): Version | undefined {
  const [tagged = ""] = text.split("@");
  const found = /(?:^|:)(\d+)\.(\d+)(?:\.(\d+))?(?:[^/]*)$/.exec(tagged);
  if (found === null) return undefined;
  const [, major, minor, patch] = found;
  return {
    ...{ major: Number(major), minor: Number(minor) },
    patch: patch === undefined ? undefined : Number(patch),
  };
}

/** Whether one of the minor versions is meant. Without any, nothing is known: it may be. */
export function supports(versions: readonly string[], wanted: Version): boolean {
  const known = versions.flatMap((each) => versionIn(each) ?? []);
  return known.length === 0 || known.some((each) => minorsApart(each, wanted) === 0);
}

/** The known minor versions in their order, and the nearest one. */
export function nearestVersion(
  versions: readonly string[],
  wanted: Version,
): { readonly known: readonly string[]; readonly nearest: string | undefined } {
  const known = versions
    .flatMap((each) => versionIn(each) ?? [])
    .sort((one, other) => minorsApart(one, other));
  const [nearest] = known.toSorted(
    (one, other) => Math.abs(minorsApart(one, wanted)) - Math.abs(minorsApart(other, wanted)),
  );
  return { known: known.map(minorText), nearest: nearest && minorText(nearest) };
}

/** A new major version is far away from every minor one. */
export function minorsApart(one: Version, other: Version): number {
  return (one.major - other.major) * 1_000 + (one.minor - other.minor);
}

function minorText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

export function versionText(version: Version): string {
  return minorText(version) + (version.patch === undefined ? "" : `.${version.patch}`);
}
