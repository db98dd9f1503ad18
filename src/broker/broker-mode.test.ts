import { describe, expect, test } from "vitest";
import { JournalConflict } from "../journal/journal.ts";
import {
  type BrokerMode,
  isOpen,
  isReadable,
  isWritable,
  type JournalAccess,
  leading,
  type ModeChange,
  modeAfter,
} from "./broker-mode.ts";

const full = new Error("the disk is full");
const damaged = new Error("a block cannot be read");
const conflict = new JournalConflict("another process has written");
const stop = new Error("closed");

const readOnly: JournalAccess = { type: "read-only", cause: full };
const unreadable: JournalAccess = { type: "unreadable", cause: full };
const standby: JournalAccess = { type: "standby", cause: conflict, readable: false };
const following: JournalAccess = { type: "standby", cause: conflict, readable: true };
const closing = (access: JournalAccess): BrokerMode => ({ type: "closing", access });
const stopped = (cause: Error, readable: boolean): BrokerMode => ({
  type: "stopped",
  cause,
  readable,
});

const commitFailed: ModeChange = { type: "commit-failed", cause: full };
const reloadFailed: ModeChange = { type: "reload-failed", cause: damaged };
const reloaded: ModeChange = { type: "reloaded" };
const probeCommitted: ModeChange = { type: "probe-committed" };
const steppedDown: ModeChange = { type: "stepped-down", cause: conflict, readable: false };
const tookOver: ModeChange = { type: "took-over" };
const closeRequested: ModeChange = { type: "close-requested" };
const closed: ModeChange = { type: "closed", cause: stop };
const fatalError: ModeChange = { type: "fatal-error", cause: damaged };

describe("modeAfter() changes", () => {
  test.each<[string, BrokerMode, ModeChange, BrokerMode]>([
    ["leading, when a commit fails", leading, commitFailed, readOnly],
    ["leading, when a reload fails", leading, reloadFailed, { ...unreadable, cause: damaged }],
    ["leading, when it steps down", leading, steppedDown, standby],
    ["read-only, when a probe is committed", readOnly, probeCommitted, leading],
    ["read-only, when a reload fails, and keeps the cause", readOnly, reloadFailed, unreadable],
    ["read-only, when it steps down", readOnly, steppedDown, standby],
    ["unreadable, when it reloads", unreadable, reloaded, readOnly],
    ["leading, when it steps down cleanly", leading, { ...steppedDown, readable: true }, following],
    ["standby, when it reloads", standby, reloaded, following],
    ["standby that follows, when a reload fails", following, reloadFailed, standby],
    ["standby that follows, when it takes over", following, tookOver, leading],
    ["leading, when close() is called", leading, closeRequested, closing(leading)],
    ["read-only, when close() is called", readOnly, closeRequested, closing(readOnly)],
    ["standby, when close() is called", standby, closeRequested, closing(standby)],
    ["closing, when a commit fails", closing(leading), commitFailed, closing(readOnly)],
    ["closing, when a reload fails", closing(readOnly), reloadFailed, closing(unreadable)],
    ["closing, when it steps down", closing(leading), steppedDown, closing(standby)],
    ["closing, when every command is answered", closing(leading), closed, stopped(stop, true)],
    [
      "closing read-only, when every command is answered",
      closing(readOnly),
      closed,
      stopped(stop, true),
    ],
    [
      "closing unreadable, when every command is answered",
      closing(unreadable),
      closed,
      stopped(stop, false),
    ],
    [
      "closing on standby, when every command is answered",
      closing(standby),
      closed,
      stopped(stop, false),
    ],
    ["leading, on a fatal error", leading, fatalError, stopped(damaged, false)],
    ["unreadable, on a fatal error", unreadable, fatalError, stopped(damaged, false)],
    ["closing, on a fatal error", closing(leading), fatalError, stopped(damaged, false)],
    ["stopped, when it reloads", stopped(stop, false), reloaded, stopped(stop, true)],
  ])("%s", (_, mode, change, want) => {
    expect(modeAfter(mode, change)).toEqual(want);
  });
});

describe("modeAfter() keeps", () => {
  test.each<[string, BrokerMode, readonly ModeChange[]]>([
    ["leading", leading, [reloaded, probeCommitted, tookOver]],
    ["read-only", readOnly, [commitFailed, reloaded, tookOver]],
    ["unreadable", unreadable, [commitFailed, reloadFailed, probeCommitted, tookOver]],
    ["standby", standby, [commitFailed, reloadFailed, tookOver, probeCommitted]],
    ["standby that follows", following, [commitFailed, reloaded, probeCommitted]],
    ["closing", closing(leading), [closeRequested, reloaded, probeCommitted]],
    [
      "stopped",
      stopped(stop, true),
      [
        ...[commitFailed, reloadFailed, reloaded, probeCommitted, steppedDown],
        ...[tookOver, closeRequested, closed, fatalError],
      ],
    ],
  ])("%s, when a change has no effect in it", (_, mode, changes) => {
    for (const change of changes) expect(modeAfter(mode, change)).toBe(mode);
  });
});

test.each<[BrokerMode, { open: boolean; readable: boolean; writable: boolean }]>([
  [leading, { open: true, readable: true, writable: true }],
  [readOnly, { open: true, readable: true, writable: false }],
  [unreadable, { open: true, readable: false, writable: false }],
  [standby, { open: true, readable: false, writable: false }],
  [following, { open: true, readable: true, writable: false }],
  [closing(leading), { open: false, readable: true, writable: true }],
  [closing(readOnly), { open: false, readable: true, writable: false }],
  [closing(standby), { open: false, readable: false, writable: false }],
  [stopped(stop, true), { open: false, readable: true, writable: false }],
  [stopped(stop, false), { open: false, readable: false, writable: false }],
])("the mode %j allows %j", (mode, { open, readable, writable }) => {
  expect([isOpen(mode), isReadable(mode), isWritable(mode)]).toEqual([open, readable, writable]);
});
