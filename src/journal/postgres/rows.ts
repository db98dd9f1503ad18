import type { Instant } from "../../core/model/time.ts";
import { type CheckedCommit, damageHint, snapshotChecksum } from "../checksum.ts";
import { JournalUnusable, type Snapshot } from "../journal.ts";
import type { Row } from "./database.ts";

/** PostgreSQL sends 64-bit numbers as text. */
export function commitFrom(row: Row): CheckedCommit {
  return {
    seq: Number(row["seq"]),
    at: Number(row["at"]) as Instant,
    count: Number(row["count"]),
    events: String(row["events"]),
    previous: Number(row["previous"]),
    checksum: Number(row["checksum"]),
  };
}

/** Throws `JournalUnusable` if the snapshot is damaged. */
export function snapshotFrom(row: Row | undefined): Snapshot | undefined {
  if (row === undefined) return undefined;
  const at = Number(row["at"]) as Instant;
  const snapshot = { seq: Number(row["seq"]), at, state: String(row["state"]) };
  if (Number(row["checksum"]) === snapshotChecksum(snapshot)) return snapshot;
  throw new JournalUnusable(
    `Cannot load the snapshot of event ${snapshot.seq} from the journal: its checksum does not match`,
    damageHint,
  );
}
