import { AccessStore } from "./access-store.ts";
import { CredentialChecks } from "./credential-checks.ts";
import type { Redactor } from "./redactor.ts";
import { SecretHashStore } from "./secret-hash-store.ts";
import { SpaceCredentials } from "./space-credentials.ts";
import type { Vault } from "./vault.ts";

/** The secrets of one vault by what they are, and the redactor that knows those in use. */
export interface SecretStores {
  readonly access: AccessStore;
  readonly credentials: SpaceCredentials;
  readonly checks: CredentialChecks;
  readonly hashes: SecretHashStore;
  readonly redactor: Redactor;
}

export function storesIn(vault: Vault, redactor: Redactor): SecretStores {
  return {
    access: new AccessStore(vault, redactor),
    credentials: new SpaceCredentials(vault, redactor),
    checks: new CredentialChecks(),
    hashes: new SecretHashStore(vault),
    redactor,
  };
}
