/** Limits on the work that issuers and callers with forged tokens can cause. */
export const issuerLimits = {
  /** Header lines may have 16 KiB together. The tokens of CI systems have 1 to 3 KiB. */
  tokenLengthMax: 12_288,
  /** The clocks of the issuer and the server may differ by this. */
  clockToleranceSeconds: 30,
  /** Of a discovery document or a list of keys. */
  documentBytesMax: 262_144,
  keysMax: 100,
  /** For the keys of one issuer, with its discovery document. */
  fetchMs: 5_000,
  /** The minimum time between two fetches of the same keys, also if tokens name unknown keys. */
  coolDownMs: 30_000,
  /** Keys older than this are fetched again in the background when they are used. */
  refreshMs: 300_000,
  /** Keys older than this are fetched again before they are used, unless the issuer is down. */
  staleMs: 900_000,
  /** The number of verified tokens that are cached. */
  verifiedMax: 10_000,
  /** How long the answer of a Kubernetes API server is cached. */
  reviewMs: 60_000,
  /** The number of TokenReview calls at the same time. */
  reviewsMax: 32,
} as const;
