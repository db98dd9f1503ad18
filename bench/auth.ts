/**
 * Durable grants and releases of callers who prove who they are, as a share of those of a server
 * without authentication. All servers run at the same time and take turns.
 */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { scratchFolder, startBerth } from "./process.ts";
import { compareInTurns, load } from "./turns.ts";

export interface AuthRow {
  readonly callers: string;
  readonly none: number;
  readonly measured: number;
  readonly ratio: number;
  readonly work: number;
  readonly others: number;
}

const pool = "quota";
const pools = { [pool]: { count: 200, ttl: "1s", lockDelay: "0s" } };
const connections = 64;
/** The load is one caller who asks as fast as it can, which the limits against floods would refuse. */
const limits = { requestsPerSecond: 1_000_000, requestsBurst: 1_000_000 };

export async function benchAuth(): Promise<AuthRow[]> {
  const folders = [scratchFolder(), scratchFolder()];
  const start = (at: number, config: object) =>
    startBerth(folders[at]?.path ?? "", JSON.stringify(config));
  const { auth, callers } = await makeCallers();
  const none = await start(0, { pools });
  const known = await start(1, { pools, auth });
  try {
    const rows: AuthRow[] = [];
    for (const [name, tokens] of Object.entries(callers)) {
      const turns = await compareInTurns(
        [none, known],
        () => load(none, { connections, pool }),
        () => load(known, { connections, pool, tokens }),
      );
      const { base, measured, ratio, work, others } = turns;
      rows.push({ callers: name, none: base, measured, ratio, work, others });
    }
    return rows;
  } finally {
    await Promise.all([none.stop(), known.stop()]);
    for (const folder of folders) folder.remove();
  }
}

async function makeCallers() {
  const names = Array.from({ length: 1_000 }, (_, at) => `team-${at}`);
  const tokens = names.map((name) => `bench-token-of-${name}`);
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "bench", alg: "ES256" };
  const issuer = "https://issuer.example";
  const jwt = await new SignJWT({ sub: "job", aud: "bench" })
    .setProtectedHeader({ alg: "ES256", kid: "bench" })
    .setIssuer(issuer)
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  const file = scratchFolder();
  const path = `${file.path}/keys.json`;
  const { writeFileSync } = await import("node:fs");
  writeFileSync(path, JSON.stringify({ keys: [jwk] }));
  process.once("exit", () => file.remove());
  const rules = [{ claims: { sub: "job" }, space: "jobs", role: "holder" }];
  const auth = {
    tokens: names.map((name, at) => {
      return { name, sha256: tokenHash(tokens[at] ?? ""), space: name, role: "holder" };
    }),
    issuers: [{ issuer, audience: "bench", jwks: { file: path }, rules }],
    limits,
  };
  const callers = {
    "one static token": tokens.slice(0, 1),
    "one JWT": [jwt],
    "1,000 static tokens in 1,000 spaces": tokens,
  };
  return { auth, callers };
}
