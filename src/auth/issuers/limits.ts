/** What an issuer, or somebody who pretends to come from one, can make the server do at most. */
export const issuerLimits = {
  /** Header lines may have 16 KiB together. The tokens of CI systems have 1 to 3 KiB. */
  tokenLengthMax: 12_288,
  /** Of clocks that differ. */
  clockToleranceSeconds: 30,
  /** Of a discovery document or a list of keys. */
  documentBytesMax: 262_144,
  keysMax: 100,
  /** For the keys of one issuer, with its discovery document. */
  fetchMs: 5_000,
  /** Between two fetches of the same keys, also if tokens name keys that nobody knows. */
  coolDownMs: 30_000,
  /** Older keys are fetched again while they are used. */
  refreshMs: 300_000,
  /** Older keys are used only if they cannot be fetched again. */
  staleMs: 900_000,
  /** Verified tokens that are remembered. */
  verifiedMax: 10_000,
  /** For how long the answer of a Kubernetes API server is remembered. */
  reviewMs: 60_000,
  /** Questions to a Kubernetes API server at a time. */
  reviewsMax: 32,
} as const;
