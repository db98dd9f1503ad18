/** Berth's own failures have codes of their own, so that they are not taken for the command's. */
export const exitCodes = {
  ok: 0,
  bug: 1,
  usage: 64,
  badInput: 65,
  notFound: 66,
  unreachable: 69,
  notGranted: 75,
  leaseLost: 76,
  refused: 77,
  badConfiguration: 78,
  unfinished: 79,
  notExecutable: 126,
  commandNotFound: 127,
} as const;

export const exitCodeHelp = `
Exit codes:
  CMD's own    CMD ran to its end; 128+N if signal N ended it
  1            a bug in berth
  64           wrong use: an option, an argument or an environment variable
  66           not found: no such pool, lease, request or resource
  69           the server cannot be reached, or cannot serve now
  75           not granted within --timeout
  76           the lease was lost; CMD was stopped
  77           refused
  78           bad configuration
  79           slots cleanup: something is left to do
  126, 127     CMD cannot be executed, was not found
  130, 143     ended by Ctrl-C, by TERM, while it waited (128+N)`;
