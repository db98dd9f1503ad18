/** Loaded into a process with `--import`: its clock is off by so many hours from the first moment. */
const offMs = Number(process.env["TEST_CLOCK_OFF_HOURS"] ?? 0) * 3_600_000;
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    if (args.length === 0) super(RealDate.now() + offMs);
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + offMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
