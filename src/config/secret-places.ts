/**
 * Places whose value may be a secret: they are made for one, or somebody may write one there instead
 * of its hash or its place. No message repeats such a value, because messages go to logs.
 */
type Step = string | number;

/** These values themselves; what stands below them has a place of its own. */
const single: readonly (readonly string[])[] = [
  ["auth"],
  ["auth", "tokens"],
  ["auth", "tokens", "*"],
];

/** These values and all below them. */
const whole: readonly (readonly string[])[] = [
  ["auth", "issuers", "*", "signin", "secret"],
  ["hubs", "*", "kubeconfig"],
  ["pools", "*", "janitor", "env"],
  ["pools", "*", "members", "*", "userdata"],
  ["resources", "*", "userdata"],
  ["templates", "*", "credentials"],
];

export function mayBeSecret(path: readonly Step[]): boolean {
  return (
    single.some((place) => place.length === path.length && isAt(place, path)) ||
    whole.some((place) => isAt(place, path))
  );
}

/** Without regard to case, as files of Boskos are read. */
function isAt(place: readonly string[], path: readonly Step[]): boolean {
  return place.every((step, at) => {
    const found = path[at];
    return found !== undefined && (step === "*" || step === String(found).toLowerCase());
  });
}
