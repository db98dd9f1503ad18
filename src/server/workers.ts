/** The workers inside the server. Only the server that leads runs them. */
import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import type { WorkerTroubles } from "../http/context.ts";
import { Admission } from "../workers/admission/admission.ts";
import type { FrontParts } from "../workers/fronts/front-run.ts";
import { Fronts } from "../workers/fronts/fronts.ts";
import { BrokerWork } from "../workers/janitor/broker-work.ts";
import { Janitor } from "../workers/janitor/janitor.ts";
import { Mirror } from "../workers/mirror/mirror.ts";
import type { Provisioner, ProvisionerConfig } from "../workers/provisioner/provisioner.ts";
import type { ConfigInForce } from "./config-in-force.ts";
import { type ProvisionerParts, startProvisioner } from "./server-provisioner.ts";
import { logAdmission, logFronts, logJanitor, logMirror } from "./worker-logs.ts";

type WorkerConfig = Pick<
  ConfigInForce,
  "admissions" | "fronts" | "janitors" | "mirror" | "templates" | "hubs"
>;

export interface WorkerOptions {
  /** False if another process cleans the resources. */
  readonly cleans: boolean;
  /** Undefined if another process makes and destroys clusters. */
  readonly provisions: ProvisionerParts | undefined;
  /** What those need who serve objects of API servers. */
  readonly fronts: FrontParts;
}

export class Workers {
  readonly #broker: Broker;
  readonly #logger: Logger;
  readonly #options: WorkerOptions;
  #janitor: Janitor | undefined;
  #provisioner: Provisioner | undefined;
  #mirror: Mirror | undefined;
  #admission: Admission | undefined;
  #fronts: Fronts | undefined;
  #stopping: Promise<unknown> = Promise.resolve();

  constructor(broker: Broker, logger: Logger, options: WorkerOptions) {
    this.#broker = broker;
    this.#logger = logger;
    this.#options = options;
  }

  get mirrorFigures(): Mirror["figures"] | undefined {
    return this.#mirror?.figures;
  }

  get admissionFigures(): Admission["figures"] | undefined {
    return this.#admission?.figures;
  }

  /** What the workers lack. */
  get troubles(): WorkerTroubles {
    return { fronts: this.#fronts?.down ?? [], takenFronts: this.#fronts?.taken ?? [] };
  }

  start(config: WorkerConfig): void {
    if (this.#mirror !== undefined) return;
    const { cleans, provisions } = this.#options;
    if (cleans) {
      const work = new BrokerWork(this.#broker);
      this.#janitor = new Janitor(work, config.janitors, logJanitor(this.#logger));
    }
    if (provisions !== undefined) {
      this.#provisioner = startProvisioner(this.#broker, provisions, config);
    }
    this.#mirror = new Mirror(this.#broker, logMirror(this.#logger));
    this.#admission = new Admission(this.#broker, logAdmission(this.#logger));
    this.#fronts = new Fronts(this.#broker, this.#options.fronts, logFronts(this.#logger));
    this.configure(config);
  }

  /** Before clusters are planned from new templates, or on new hubs. */
  prepare(config: ProvisionerConfig): void {
    this.#provisioner?.configure(config);
  }

  /** Has no effect while they do not run. */
  configure({ janitors, mirror, admissions, fronts }: WorkerConfig): void {
    this.#janitor?.configure(janitors);
    this.#mirror?.configure(mirror);
    this.#admission?.configure(admissions);
    this.#fronts?.configure(fronts);
  }

  /** The broker should still accept releases. Resolves when all have ended, also earlier ones. */
  async stop(): Promise<void> {
    const making = [this.#janitor, this.#provisioner];
    const workers = [...making, this.#mirror, this.#admission, this.#fronts];
    const running = workers.map((worker) => worker?.stop());
    this.#janitor = undefined;
    this.#provisioner = undefined;
    this.#mirror = undefined;
    this.#admission = undefined;
    this.#fronts = undefined;
    this.#stopping = Promise.all([this.#stopping, ...running]);
    await this.#stopping;
  }
}
