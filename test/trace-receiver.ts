/** Receives traces by OTLP over HTTP, as a collector does. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly boolValue?: boolean;
}

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly spanId: string }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

export class TraceReceiver implements AsyncDisposable {
  readonly #server: Server;
  readonly spans: Span[] = [];
  readonly services = new Set<string>();
  /** Everything as it was sent. */
  text = "";

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request.setEncoding("utf8")) body += part;
      this.text += body;
      if (request.url === "/v1/traces") this.#take(JSON.parse(body));
      response.setHeader("content-type", "application/json").end("{}");
    });
  }

  static async start(): Promise<TraceReceiver> {
    const receiver = new TraceReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  /** The variables that make a server send its traces here, at once. */
  get environment(): NodeJS.ProcessEnv {
    const { port } = this.#server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "50",
    };
  }

  #take({ resourceSpans }: Export): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const name = resource.attributes.find(({ key }) => key === "service.name");
      this.services.add(name?.value.stringValue ?? "");
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }

  /** The spans of one trace by name. */
  of(traceId: string): ReadonlyMap<string, Span> {
    return new Map(
      this.spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

export function attributeOf(span: Span | undefined, key: string): unknown {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue ?? value?.boolValue;
}
