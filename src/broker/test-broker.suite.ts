import type { Command } from "../core/model/command.ts";
import { type BrokerEvent, isDurable } from "../core/model/event.ts";
import type { PoolSpec } from "../core/model/policy.ts";
import type { Recorded } from "../journal/journal.ts";
import type { MemoryJournal } from "../journal/memory.ts";
import { Broker } from "./broker.ts";
import type { BrokerOptions } from "./broker-contract.ts";
import { HandClock } from "./hand-clock.suite.ts";
import { HandJournal } from "./hand-journal.suite.ts";

export interface TestBroker {
  readonly broker: Broker;
  readonly clock: HandClock;
  readonly journal: HandJournal;
  /** Every call of a listener, in order. */
  readonly reported: {
    readonly committed: Recorded[];
    readonly writable: (Error | null)[];
    readonly fatal: Error[];
    readonly failed: unknown[];
  };
}

export async function openBroker(
  options: Partial<BrokerOptions> & { memory?: MemoryJournal; clock?: HandClock } = {},
): Promise<TestBroker> {
  const { memory, clock: given, ...rest } = options;
  const journal = new HandJournal(memory);
  let clock = given ?? new HandClock();
  const broker = await Broker.open(
    journal,
    (notBefore) => {
      if (given === undefined) clock = new HandClock(notBefore);
      return clock;
    },
    rest,
  );
  const reported: TestBroker["reported"] = { committed: [], writable: [], fatal: [], failed: [] };
  broker.listen({
    committed: (recorded) => reported.committed.push(recorded),
    writable: (cause) => reported.writable.push(cause),
    fatal: (cause) => reported.fatal.push(cause),
    failed: (_what, cause) => reported.failed.push(cause),
  });
  return { broker, clock, journal, reported };
}

export async function brokerOf(
  pools: readonly PoolSpec[],
  options: Partial<BrokerOptions> = {},
): Promise<TestBroker> {
  const test = await openBroker(options);
  await test.broker.submit({ type: "configure", pools });
  return test;
}

/** A command whose decision throws, as a bug in the core would. */
export function poison(): Command {
  const bug = {
    type: "release",
    get id(): never {
      throw new Error("poison");
    },
  };
  return bug as unknown as Command;
}

export const typesOf = (events: readonly BrokerEvent[]): string[] =>
  events.filter(isDurable).map(({ type }) => type);
