import pino, { type Logger } from "pino";
import pretty from "pino-pretty";
import type { Redactor } from "../vault/redactor.ts";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Logs to standard error: one JSON object per line, or text on a terminal. The code never passes
 * secrets to it; the redaction is a second protection: of fields by their name, and of every value
 * that `redactor` knows, wherever it stands in a line.
 */
export function makeLogger(
  level: LogLevel,
  human = process.stderr.isTTY === true,
  redactor?: Redactor,
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ["*.authorization", "*.token", "*.userData", "token", "userData", "req.headers"],
      censor: "[hidden]",
    },
    ...(redactor && { hooks: { streamWrite: (line: string) => redactor.clean(line) } }),
  };
  if (!human) return pino(options, pino.destination({ dest: 2, sync: false }));
  return pino(
    options,
    pretty({
      destination: 2,
      sync: true,
      colorize: process.stderr.hasColors?.() === true,
      translateTime: "SYS:HH:MM:ss",
    }),
  );
}
