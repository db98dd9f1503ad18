/** The workers inside the server. Only the server that leads runs them. */
import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import { Admission } from "../workers/admission/admission.ts";
import { BrokerWork } from "../workers/janitor/broker-work.ts";
import { Janitor } from "../workers/janitor/janitor.ts";
import { Mirror } from "../workers/mirror/mirror.ts";
import type { ConfigInForce } from "./config-in-force.ts";
import { logAdmission, logJanitor, logMirror } from "./worker-logs.ts";

type WorkerConfig = Pick<ConfigInForce, "admissions" | "janitors" | "mirror">;

export class Workers {
  readonly #broker: Broker;
  readonly #logger: Logger;
  readonly #cleans: boolean;
  #janitor: Janitor | undefined;
  #mirror: Mirror | undefined;
  #admission: Admission | undefined;
  #stopping: Promise<unknown> = Promise.resolve();

  /** `cleans`: false if another process cleans the resources. */
  constructor(broker: Broker, logger: Logger, cleans: boolean) {
    this.#broker = broker;
    this.#logger = logger;
    this.#cleans = cleans;
  }

  get mirrorFigures(): Mirror["figures"] | undefined {
    return this.#mirror?.figures;
  }

  get admissionFigures(): Admission["figures"] | undefined {
    return this.#admission?.figures;
  }

  start(config: WorkerConfig): void {
    if (this.#mirror !== undefined) return;
    if (this.#cleans) {
      const work = new BrokerWork(this.#broker);
      this.#janitor = new Janitor(work, config.janitors, logJanitor(this.#logger));
    }
    this.#mirror = new Mirror(this.#broker, logMirror(this.#logger));
    this.#admission = new Admission(this.#broker, logAdmission(this.#logger));
    this.configure(config);
  }

  /** Has no effect while they do not run. */
  configure({ janitors, mirror, admissions }: WorkerConfig): void {
    this.#janitor?.configure(janitors);
    this.#mirror?.configure(mirror);
    this.#admission?.configure(admissions);
  }

  /** The broker should still accept releases. Resolves when all have ended, also earlier ones. */
  async stop(): Promise<void> {
    const running = [this.#janitor, this.#mirror, this.#admission].map((worker) => worker?.stop());
    this.#janitor = undefined;
    this.#mirror = undefined;
    this.#admission = undefined;
    this.#stopping = Promise.all([this.#stopping, ...running]);
    await this.#stopping;
  }
}
