import type { KnownReplica, Standing } from "../../journal/shared-journal.ts";
import type { RelaySignature } from "./relay-signature.ts";
import type { RelayedDeliveries } from "./relayed-deliveries.ts";

/** The other servers on the same journal, as the routes see them. */
export interface Peers {
  readonly id: string;
  readonly isLeading: boolean;
  /** What the journal said when this server last looked. */
  readonly standing: Standing | undefined;
  /** Whether notifications of the database arrive; otherwise this server polls. */
  readonly isNotified: boolean;
  /** Whether this server reached the journal when it last tried. */
  readonly isReachable: boolean;
  /** For how long this server may have missed something. */
  readonly staleMs: number;
  readonly signature: RelaySignature;
  readonly deliveries: RelayedDeliveries;
  replicas(): Promise<readonly KnownReplica[]>;
  /** Calls `changed` each time another server, or this one, may have begun to lead. */
  onChange(changed: () => void): () => void;
}
