import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * On standard error: one JSON object per line, or text where a person reads along. What could hold
 * a secret is never handed to it; the redaction is for the day when somebody forgets.
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
