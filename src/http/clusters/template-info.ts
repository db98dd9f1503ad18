import type { PhaseLimits } from "../../core/model/cluster.ts";

/**
 * A template as requests see it. Pinned values, commands and credentials stay in the part of the
 * configuration that only a provisioner reads.
 */
export interface TemplateInfo {
  readonly name: string;
  readonly driver: string;
  readonly revision: string;
  /** What a request may set: a JSON Schema for each name. */
  readonly parameters: Readonly<Record<string, object>>;
  /** Names only. */
  readonly pinned: readonly string[];
  /** The credentials of the requester's space that its clusters are made with; null: none. */
  readonly ownCredentials: string | null;
  readonly cost: number;
  readonly hibernates: boolean;
  /** Whether its driver tries out own credentials before they are stored. */
  readonly validates?: boolean;
  readonly limits: PhaseLimits;
}
