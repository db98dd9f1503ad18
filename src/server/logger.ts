import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Logs to standard error: one JSON object per line, or text on a terminal. The code never passes
 * secrets to it; the redaction is a second protection.
 */
export function makeLogger(level: LogLevel, human = process.stderr.isTTY === true): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ["*.authorization", "*.token", "*.userData", "token", "userData", "req.headers"],
      censor: "[hidden]",
    },
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
