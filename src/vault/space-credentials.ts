/**
 * Credentials that a space brings for its own clusters. A new value is a new version. What clusters
 * still need is kept after it was replaced or deleted, so that these clusters can be destroyed.
 */
import type { Redactor } from "./redactor.ts";
import type { EntryName, Vault } from "./vault.ts";

/** Variables by name, such as `AWS_ACCESS_KEY_ID`. */
export type CredentialValues = Readonly<Record<string, string>>;

/** One version of a space's credentials. Without authentication there are no spaces: `""`. */
export interface CredentialRef {
  readonly space: string;
  readonly name: string;
  readonly version: number;
}

export interface CredentialInfo extends CredentialRef {
  /** The names of the variables; never their values. */
  readonly keys: readonly string[];
  readonly storedAtMs: number;
}

/** A request that is being decided may have just read the present version. */
const graceMs = 60_000;

/** `team-a/aws#2`: the form in which a cluster records what it was made with. */
export function writeRef({ space, name, version }: CredentialRef): string {
  return `${space}/${name}#${version}`;
}

export function readRef(text: string): CredentialRef | undefined {
  const [, space, name, version] = /^([^/#]*)\/([^/#]+)#([1-9]\d*)$/.exec(text) ?? [];
  if (space === undefined || name === undefined) return undefined;
  return { space, name, version: Number(version) };
}

export class SpaceCredentials {
  readonly #vault: Vault;
  readonly #redactor: Redactor;

  constructor(vault: Vault, redactor: Redactor) {
    this.#vault = vault;
    this.#redactor = redactor;
  }

  /** Stores a new version, which requests use from now on. */
  async put(space: string, name: string, values: CredentialValues): Promise<CredentialRef> {
    this.register(values);
    const versions = await this.#versions(space, name);
    const version = 1 + Math.max(0, ...versions.map((one) => one.ref.version));
    const ref = { space, name, version };
    await this.#vault.put(entryOf("credentials", ref), JSON.stringify(values));
    await this.#retire(versions);
    return ref;
  }

  /** The present versions of a space. */
  async list(space: string): Promise<readonly CredentialInfo[]> {
    const entries = await this.#refs("credentials");
    const own = entries.filter(({ ref }) => ref.space === space);
    return Promise.all(
      own.map(async ({ ref, sealedAtMs }) => {
        const values = (await this.#open("credentials", ref)) ?? {};
        return { ...ref, keys: Object.keys(values).sort(), storedAtMs: sealedAtMs };
      }),
    );
  }

  /** The version that a new request uses; undefined if the space has none of that name. */
  async current(space: string, name: string): Promise<CredentialRef | undefined> {
    const versions = await this.#versions(space, name);
    const present = versions.filter(({ kind }) => kind === "credentials");
    return present.map(({ ref }) => ref).sort((a, b) => b.version - a.version)[0];
  }

  /** False if there is none. Clusters that were made with it can still be destroyed. */
  async delete(space: string, name: string): Promise<boolean> {
    const versions = await this.#versions(space, name);
    await this.#retire(versions);
    return versions.some(({ kind }) => kind === "credentials");
  }

  /** For the worker that makes or destroys a cluster: also a version that was deleted meanwhile. */
  async open(ref: CredentialRef): Promise<CredentialValues | undefined> {
    const values =
      (await this.#open("credentials", ref)) ?? (await this.#open("retired-credentials", ref));
    if (values !== undefined) this.register(values);
    return values;
  }

  /** For the search for clusters that nobody knows of: all versions of all spaces that are kept. */
  async named(
    name: string,
  ): Promise<readonly { readonly reference: string; readonly values: CredentialValues }[]> {
    const kept = [
      ...(await this.#refs("credentials")),
      ...(await this.#refs("retired-credentials")),
    ];
    const found = new Map<string, CredentialValues>();
    for (const { ref } of kept) {
      const values = ref.name === name ? await this.open(ref) : undefined;
      if (values !== undefined) found.set(writeRef(ref), values);
    }
    return Array.from(found, ([reference, values]) => ({ reference, values }));
  }

  /** Whether there are versions that were deleted or replaced, and may still be needed. */
  async hasDeleted(): Promise<boolean> {
    return (await this.#vault.list("retired-credentials")).length > 0;
  }

  /** Erases the deleted versions that are not in use. Returns how many there were. */
  async keepUsed(used: ReadonlySet<string>, nowMs: number): Promise<number> {
    const entries = await this.#refs("retired-credentials");
    const gone = entries.filter(
      ({ ref, sealedAtMs }) => !used.has(writeRef(ref)) && sealedAtMs + graceMs <= nowMs,
    );
    for (const { ref } of gone) await this.#vault.wipe(entryOf("retired-credentials", ref));
    return gone.length;
  }

  /** The copy comes first: a crash in between leaves both, and never none. */
  async #retire(versions: readonly Version[]): Promise<void> {
    for (const { kind, ref } of versions) {
      if (kind !== "credentials") continue;
      const text = await this.#vault.open(entryOf(kind, ref));
      if (text !== undefined) await this.#vault.put(entryOf("retired-credentials", ref), text);
      await this.#vault.wipe(entryOf(kind, ref));
    }
  }

  async #versions(space: string, name: string): Promise<readonly Version[]> {
    const all = [
      ...(await this.#refs("credentials")),
      ...(await this.#refs("retired-credentials")),
    ];
    return all.filter(({ ref }) => ref.space === space && ref.name === name);
  }

  async #refs(kind: CredentialKind): Promise<readonly Version[]> {
    const entries = await this.#vault.list(kind);
    return entries.flatMap(({ owner, sealedAtMs }) => {
      const ref = readRef(owner);
      return ref === undefined ? [] : [{ kind, ref, sealedAtMs }];
    });
  }

  async #open(kind: CredentialKind, ref: CredentialRef): Promise<CredentialValues | undefined> {
    const text = await this.#vault.open(entryOf(kind, ref));
    return text === undefined ? undefined : (JSON.parse(text) as CredentialValues);
  }

  /** Masks the values in all logs from now on. */
  register(values: CredentialValues): void {
    for (const value of Object.values(values)) this.#redactor.registerDocument(value);
  }
}

type CredentialKind = "credentials" | "retired-credentials";

interface Version {
  readonly kind: CredentialKind;
  readonly ref: CredentialRef;
  readonly sealedAtMs: number;
}

function entryOf(kind: CredentialKind, ref: CredentialRef): EntryName {
  return { kind, owner: writeRef(ref) };
}
