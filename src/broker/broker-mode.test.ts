import { describe, expect, test } from "vitest";
import { JournalConflict } from "../journal/journal.ts";
import {
  type BrokerMode,
  isOpen,
  isReadable,
  isWritable,
  leading,
  type ModeChange,
  modeAfter,
  type Serving,
} from "./broker-mode.ts";

const full = new Error("the disk is full");
const damaged = new Error("a block cannot be read");
const written = new JournalConflict("another has written");
const stop = new Error("closed");

const readOnly: Serving = { type: "read-only", cause: full };
const unreadable: Serving = { type: "unreadable", cause: full };
const standby: Serving = { type: "standby", cause: written };
const closing = (serving: Serving): BrokerMode => ({ type: "closing", serving });
const ended = (cause: Error, readable: boolean): BrokerMode => ({ type: "ended", cause, readable });

const commitFailed: ModeChange = { type: "commit-failed", cause: full };
const readFailed: ModeChange = { type: "read-failed", cause: damaged };
const readBack: ModeChange = { type: "read-back" };
const writeWorked: ModeChange = { type: "write-worked" };
const steppedDown: ModeChange = { type: "stepped-down", cause: written };
const toldToLead: ModeChange = { type: "told-to-lead" };
const toldToClose: ModeChange = { type: "told-to-close" };
const closed: ModeChange = { type: "closed", cause: stop };
const broke: ModeChange = { type: "broke", cause: damaged };

describe("modeAfter() changes", () => {
  test.each<[string, BrokerMode, ModeChange, BrokerMode]>([
    ["leading, when a commit fails", leading, commitFailed, readOnly],
    ["leading, when reading back fails", leading, readFailed, { ...unreadable, cause: damaged }],
    ["leading, when it steps down", leading, steppedDown, standby],
    ["read-only, when a write works", readOnly, writeWorked, leading],
    ["read-only, when reading back fails, and keeps the cause", readOnly, readFailed, unreadable],
    ["read-only, when it steps down", readOnly, steppedDown, standby],
    ["unreadable, when it is read back", unreadable, readBack, readOnly],
    ["standby, when told to lead", standby, toldToLead, { ...unreadable, cause: written }],
    ["leading, when told to close", leading, toldToClose, closing(leading)],
    ["read-only, when told to close", readOnly, toldToClose, closing(readOnly)],
    ["standby, when told to close", standby, toldToClose, closing(standby)],
    ["closing, when a commit fails", closing(leading), commitFailed, closing(readOnly)],
    ["closing, when reading back fails", closing(readOnly), readFailed, closing(unreadable)],
    ["closing, when it steps down", closing(leading), steppedDown, closing(standby)],
    ["closing, when all is answered", closing(leading), closed, ended(stop, true)],
    ["closing read-only, when all is answered", closing(readOnly), closed, ended(stop, true)],
    ["closing unreadable, when all is answered", closing(unreadable), closed, ended(stop, false)],
    ["closing on standby, when all is answered", closing(standby), closed, ended(stop, false)],
    ["leading, when it breaks", leading, broke, ended(damaged, false)],
    ["unreadable, when it breaks", unreadable, broke, ended(damaged, false)],
    ["closing, when it breaks", closing(leading), broke, ended(damaged, false)],
    ["ended, when it is read back", ended(stop, false), readBack, ended(stop, true)],
  ])("%s", (_, mode, change, want) => {
    expect(modeAfter(mode, change)).toEqual(want);
  });
});

describe("modeAfter() keeps", () => {
  test.each<[string, BrokerMode, readonly ModeChange[]]>([
    ["leading", leading, [readBack, writeWorked, toldToLead]],
    ["read-only", readOnly, [commitFailed, readBack, toldToLead]],
    ["unreadable", unreadable, [commitFailed, readFailed, writeWorked, toldToLead]],
    ["standby", standby, [commitFailed, readFailed, readBack, writeWorked]],
    ["closing", closing(leading), [toldToClose, readBack, writeWorked]],
    [
      "ended",
      ended(stop, true),
      [
        ...[commitFailed, readFailed, writeWorked, steppedDown],
        ...[toldToLead, toldToClose, closed, broke],
      ],
    ],
  ])("%s as it is, whatever else happens", (_, mode, changes) => {
    for (const change of changes) expect(modeAfter(mode, change)).toBe(mode);
  });
});

test.each<[BrokerMode, { open: boolean; readable: boolean; writable: boolean }]>([
  [leading, { open: true, readable: true, writable: true }],
  [readOnly, { open: true, readable: true, writable: false }],
  [unreadable, { open: true, readable: false, writable: false }],
  [standby, { open: true, readable: false, writable: false }],
  [closing(leading), { open: false, readable: true, writable: true }],
  [closing(readOnly), { open: false, readable: true, writable: false }],
  [closing(standby), { open: false, readable: false, writable: false }],
  [ended(stop, true), { open: false, readable: true, writable: false }],
  [ended(stop, false), { open: false, readable: false, writable: false }],
])("the mode %j allows %j", (mode, { open, readable, writable }) => {
  expect([isOpen(mode), isReadable(mode), isWritable(mode)]).toEqual([open, readable, writable]);
});
