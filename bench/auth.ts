/**
 * Durable grants and releases of callers who prove who they are, as a share of those of a server
 * without authentication. Both servers run at the same time and take turns. The first row compares two servers
 * without: it says how much of the other rows is the machine.
 */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { type Running, scratchFolder, startBerth } from "./process.ts";
import { type Comparison, compareInSlices } from "./slices.ts";

export interface AuthRow extends Comparison {
  readonly callers: string;
}

const pool = "quota";
/** No lease may expire while its connection waits for its turn. */
const pools = { [pool]: { count: 400, ttl: "10m", lockDelay: "0s" } };
const connections = 64;
/** The load is one caller who asks as fast as it can, which the limits against floods would refuse. */
const limits = { requestsPerSecond: 1_000_000, requestsBurst: 1_000_000 };

export async function benchAuth(): Promise<AuthRow[]> {
  const { auth, callers } = await makeCallers();
  const server = (config: object) => async (): Promise<Running> => {
    const folder = scratchFolder();
    const { stop, ...running } = await startBerth(folder.path, JSON.stringify(config));
    return { ...running, stop: () => stop().then(folder.remove) };
  };
  const base = server({ pools });
  const known = server({ pools, auth });
  const load = { connections, pool };
  const control = await compareInSlices({ base, measured: base, ...load });
  const rows: AuthRow[] = [{ callers: "nobody, on both sides", ...control }];
  for (const [name, tokens] of Object.entries(callers)) {
    const found = await compareInSlices({ base, measured: known, tokens, ...load });
    rows.push({ callers: name, ...found });
  }
  return rows;
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
