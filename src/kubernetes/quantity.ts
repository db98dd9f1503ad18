/** The suffixes of Kubernetes quantities, such as `250m`, `1.5`, `12Gi`, `3e9` and `100k`. */
const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const pattern = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Returns undefined if the text is not a quantity. Callers must not treat undefined as 0. */
export function parseQuantity(text: string | number): number | undefined {
  const [, digits, exponent, suffix = ""] = pattern.exec(String(text)) ?? [];
  if (digits === undefined) return undefined;
  if (exponent !== undefined) return Number(`${digits}e${exponent}`);
  // Division returns the exact decimal: 9 / 1000 is 0.009, but 9 * 0.001 is 0.009000000000000001.
  const factor = factors[suffix] ?? Number.NaN;
  return factor < 1 ? Number(digits) / Math.round(1 / factor) : Number(digits) * factor;
}
