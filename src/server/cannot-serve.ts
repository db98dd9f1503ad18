/** Why the server does not start, or stops. Printed as it is, without a stack. */
export class CannotServe extends Error {
  override readonly name = "CannotServe";
  readonly hint: string;
  readonly exitCode: number;

  constructor(message: string, hint: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Exit codes of `sysexits.h`; the command line uses the same ones. */
export const exitCodes = { usage: 64, unavailable: 69, configuration: 78 } as const;
