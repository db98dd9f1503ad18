/**
 * Exports traces by OTLP. Loaded only if the environment names where to, in the variables that all
 * programs with OpenTelemetry read (docs/decisions/0033-traces-by-opentelemetry.md).
 */
import { hostname } from "node:os";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import type { Journal } from "../journal/journal.ts";
import { traceLending } from "./trace-lending.ts";

export class Tracing {
  readonly #provider: NodeTracerProvider;

  constructor(version: string, logger: Logger) {
    const attributes = {
      "service.name": "berth",
      "service.version": version,
      "service.instance.id": `${hostname()}-${process.pid}`,
    };
    const resource = defaultResource()
      .merge(resourceFromAttributes(attributes))
      .merge(detectResources({ detectors: [envDetector] }));
    // Not the cause itself: it may have headers with a token.
    const failed = (message: string) => logger.warn({ why: message.slice(0, 200) }, "traces");
    diag.setLogger(
      { error: failed, warn: failed, info() {}, debug() {}, verbose() {} },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    this.#provider = new NodeTracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    this.#provider.register();
  }

  follow(broker: Broker, journal: Journal): void {
    traceLending(broker, journal);
  }

  /** Sends what is left, for a few seconds at most. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => {});
  }
}
