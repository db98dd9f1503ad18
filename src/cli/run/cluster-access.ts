/** The kubeconfigs of a command that holds clusters: private files that go when the command ends. */
import { rename, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import type { ClusterAccess } from "../../api/cluster-schemas.ts";
import type { Claim } from "../../api/schemas.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import type { Held } from "../../client/calls.ts";
import { retrying } from "../../client/pause.ts";
import { poolsOf } from "../show/leases.ts";
import { plain } from "../terminal/text.ts";
import { variableSuffix } from "./lease-variables.ts";

/** For a server that restarts, and for access that is made when the cluster is lent. */
const accessMsMax = 60_000;
/** Access is read again well before it ends, and never in a tight loop. */
const renewMsMin = 10_000;
/**
 * Access that ends lasts for ten minutes at least. So it is read in time also if the clock of this machine is hours behind.
 */
const renewMsMax = 180_000;

export function clusterClaims({ claims }: Pick<HeldLease, "claims">): Claim[] {
  return claims.filter(({ cluster }) => cluster === true);
}

/** Reads the access of a claim; waits while it is still being made. */
export function readAccess(
  client: BerthClient,
  lease: Held,
  claim: string,
  signal?: AbortSignal,
): Promise<ClusterAccess> {
  return retrying(() => client.clusters.access(lease, claim, { signal }), {
    forMs: accessMsMax,
    signal,
  });
}

/** Files with the access to every cluster of a lease, renewed until `close`. */
export class ClusterFiles {
  readonly #client: BerthClient;
  readonly #lease: HeldLease;
  readonly #folder: string;
  readonly #note: (text: string) => void;
  readonly #stopped = new AbortController();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #paths = new Map<string, { pool: string; kubeconfig: string; password?: string }>();

  private constructor(options: ClusterFilesOptions) {
    this.#client = options.client;
    this.#lease = options.lease;
    this.#folder = dirname(options.leaseFile);
    this.#note = options.note;
  }

  /** Writes the files beside the lease file, in its private folder, which is removed as a whole. */
  static async write(options: ClusterFilesOptions): Promise<ClusterFiles> {
    const files = new ClusterFiles(options);
    for (const claim of clusterClaims(options.lease)) await files.#read(claim);
    return files;
  }

  /** `KUBECONFIG` has all clusters, and each pool has a variable of its own. */
  get variables(): Readonly<Record<string, string>> {
    if (this.#paths.size === 0) return {};
    const found = [...this.#paths.values()];
    const variables: Record<string, string> = {
      KUBECONFIG: found.map(({ kubeconfig }) => kubeconfig).join(delimiter),
    };
    const [password] = found.flatMap((one) => one.password ?? []);
    if (password !== undefined) variables["KUBEADMIN_PASSWORD_FILE"] = password;
    for (const pool of poolsOf(clusterClaims(this.#lease))) {
      const own = found.filter((one) => one.pool === pool);
      variables[`BERTH_KUBECONFIG_${variableSuffix(pool)}`] = own
        .map(({ kubeconfig }) => kubeconfig)
        .join(" ");
    }
    return variables;
  }

  close(): void {
    this.#stopped.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  async #read(claim: Claim): Promise<void> {
    const access = await readAccess(this.#client, this.#lease, claim.id, this.#stopped.signal);
    const kubeconfig = join(this.#folder, `${claim.id}.kubeconfig`);
    await replaceFile(kubeconfig, access.kubeconfig);
    const password =
      access.password === null ? undefined : join(this.#folder, `${claim.id}.password`);
    if (password !== undefined) await replaceFile(password, access.password ?? "");
    const { pool } = claim;
    this.#paths.set(claim.id, {
      pool,
      kubeconfig,
      ...(password === undefined ? {} : { password }),
    });
    this.#renewBefore(access.expiresAt, claim);
  }

  #renewBefore(expiresAt: string | null, claim: Claim): void {
    if (expiresAt === null || this.#stopped.signal.aborted) return;
    this.#renewIn(renewalMs(expiresAt, Date.now()), claim);
  }

  #renewIn(delayMs: number, claim: Claim): void {
    const timer = setTimeout(() => void this.#renew(claim), delayMs);
    this.#timers.set(claim.id, timer.unref());
  }

  async #renew(claim: Claim): Promise<void> {
    try {
      await this.#read(claim);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      const what = `berth: the access to ${claim.resource} could not be renewed: ${why}; retrying`;
      this.#note(plain(what));
      this.#renewIn(renewMsMin, claim);
    }
  }
}

/** After how long access is read again. */
export function renewalMs(expiresAt: string, nowMs: number): number {
  const leftMs = Date.parse(expiresAt) - nowMs;
  return Math.min(Math.max(renewMsMin, (leftMs * 2) / 3), renewMsMax);
}

export interface ClusterFilesOptions {
  readonly client: BerthClient;
  readonly lease: HeldLease;
  readonly leaseFile: string;
  readonly note: (text: string) => void;
}

/** In one step: a program that reads the file meanwhile sees the old access or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}
