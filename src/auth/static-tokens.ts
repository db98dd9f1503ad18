/** Tokens that the configuration lists by their hash. */
import { hash, timingSafeEqual } from "node:crypto";
import type { SpaceName } from "../core/model/ids.ts";
import type { Proven } from "./recent-callers.ts";
import { refuseCredentials } from "./refusals.ts";
import type { Role } from "./roles.ts";

/** One entry of `auth.tokens`. */
export interface TokenSpec {
  readonly name: string;
  /** The SHA-256 of the token, in small hexadecimal digits. */
  readonly sha256: string;
  readonly space: SpaceName;
  readonly role: Role;
  /** In milliseconds since 1970; absent: never. */
  readonly expiresAtMs?: number;
}

export function tokenHash(token: string): string {
  return hash("sha256", token, "hex");
}

interface KnownToken {
  readonly spec: TokenSpec;
  readonly digest: Buffer;
  readonly proven: Proven;
}

export class StaticTokens {
  readonly #byHash: ReadonlyMap<string, KnownToken>;

  constructor(specs: readonly TokenSpec[]) {
    this.#byHash = new Map(
      specs.map((spec) => {
        const { name, space, role } = spec;
        const proven: Proven = {
          principal: { name, space, role, proof: "token" },
          untilMs: spec.expiresAtMs ?? Number.POSITIVE_INFINITY,
          isCurrent: () => true,
        };
        return [spec.sha256, { spec, digest: Buffer.from(spec.sha256, "hex"), proven }];
      }),
    );
  }

  /** Those that end before this time, or have ended. */
  until(atMs: number): { readonly name: string; readonly expiresAtMs: number }[] {
    return Array.from(this.#byHash.values()).flatMap(({ spec: { name, expiresAtMs } }) => {
      return expiresAtMs === undefined || expiresAtMs > atMs ? [] : [{ name, expiresAtMs }];
    });
  }

  /**
   * Who has a token, or undefined if the token is unknown. Only hashes are compared, and
   * nobody can choose a token by its hash, so the time of the lookup reveals nothing. `user` is the
   * name in basic authentication, which must be the token's.
   */
  find(token: string, nowMs: number, user?: string): Proven | undefined {
    const digest = hash("sha256", token, "buffer");
    const known = this.#byHash.get(digest.toString("hex"));
    if (known === undefined || !timingSafeEqual(known.digest, digest)) return undefined;
    const { spec, proven } = known;
    if (user !== undefined && user !== spec.name) return undefined;
    if (spec.expiresAtMs !== undefined && spec.expiresAtMs <= nowMs) {
      const when = new Date(spec.expiresAtMs).toISOString();
      throw refuseCredentials(`the token "${spec.name}" expired at ${when}`);
    }
    return proven;
  }
}
