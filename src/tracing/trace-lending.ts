/** Spans below those of calls: a command from its submission until it is durable, and each commit. */
import { context, type Link, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Broker } from "../broker/broker.ts";
import type { Journal } from "../journal/journal.ts";

const tracer = trace.getTracer("berth");

/**
 * Replaces two methods of these objects, so that broker and journal know nothing of traces, and cost
 * nothing more while there are none.
 */
export function traceLending(
  broker: Pick<Broker, "submit">,
  journal: Pick<Journal, "append">,
): void {
  const open = new Set<Span>();
  const submit = broker.submit.bind(broker);
  const append = journal.append.bind(journal);

  broker.submit = (command, from) => {
    const span = tracer.startSpan("decide and commit", {
      attributes: { "berth.command": command.type },
    });
    open.add(span);
    const active = trace.setSpan(context.active(), span);
    return ending(span, context.with(active, submit, undefined, command, from), () => {
      open.delete(span);
    });
  };

  // One commit is for many commands: it is a part of the first one's trace, and has links to all.
  journal.append = (head, at, events) => {
    const [first] = open;
    const links = Array.from(open, (each): Link => ({ context: each.spanContext() }));
    const parent = first === undefined ? context.active() : trace.setSpan(context.active(), first);
    const attributes = { "berth.events": events.length, "berth.journal.head": head };
    const span = tracer.startSpan("commit", { attributes, links }, parent);
    return ending(span, append(head, at, events));
  };
}

function ending<T>(span: Span, work: Promise<T>, ended: () => void = () => {}): Promise<T> {
  return work
    .catch((cause: unknown) => {
      span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(cause) });
      throw cause;
    })
    .finally(() => {
      ended();
      span.end();
    });
}

/** Messages may name what a caller has sent. */
function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "failed";
}
