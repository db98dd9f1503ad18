/** How a table of calls and answers is run: as it is, and with a crash before every call. */
import { describe, expect, test } from "vitest";
import {
  type BoskosAnswer,
  type BoskosCall,
  BoskosSite,
  type BoskosSiteOptions,
} from "./boskos-site.suite.ts";

/** The instant at which every row begins, as Boskos writes it. */
export const beginning = "2023-11-14T22:13:20Z";

export interface Step extends BoskosCall {
  readonly call: string;
  /** So much time has passed since the call before. */
  readonly afterMs?: number;
  readonly status: number;
  /** The whole body. */
  readonly text: string;
  /** Every resource after the call. */
  readonly stored?: readonly string[];
}

export interface Row extends BoskosSiteOptions {
  readonly id: string;
  readonly steps: readonly Step[];
}

/** One call and its answer; more may follow. */
export function step(call: string, status: number, text: string, more: Partial<Step> = {}): Step {
  return { call, status, text, ...more };
}

/** An error as Go writes it. */
export function no(call: string, status: number, line: string, more: Partial<Step> = {}): Step {
  return step(call, status, `${line}\n`, more);
}

export function testRows(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    describe.each([
      { way: "as it is", crashes: false },
      { way: "with a crash before every call", crashes: true },
    ])("$way", ({ crashes }) => {
      test.each(rows.map((row) => [row.id, row] as const))("%s", async (_, row) => {
        await using site = await BoskosSite.start(row);
        for (const each of row.steps) {
          if (crashes) await site.restart();
          await site.clock.advance(each.afterMs ?? 0);
          const answer = await site.call(each.call, each);
          expect({ status: answer.status, text: answer.text }, each.call).toEqual({
            status: each.status,
            text: each.text,
          });
          expectGoHeaders(answer);
          if (each.stored !== undefined) expect(await site.stored()).toEqual(each.stored);
        }
      });
    });
  });
}

/** What Go's server puts at the head of a text, of JSON and of nothing. */
export function expectGoHeaders({ status, text, headers }: BoskosAnswer): void {
  if (text === "") {
    expect(headers["content-length"]).toBe("0");
    expect(headers["content-type"]).toBeUndefined();
  } else if (status === 200) {
    expect(headers["content-type"]).toMatch(/^application\/json(;|$)/);
  } else {
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
  if (status === 405) expect(headers.allow).toBeUndefined();
}
