/** What the workers beside the broker report, as lines of the log. */
import type { Logger } from "pino";
import type { IssuerReports } from "../auth/issuers/issuer-keys.ts";
import type { AdmissionListener, Verdict } from "../workers/admission/admission.ts";
import type { FrontListener } from "../workers/fronts/front-run.ts";
import type { JanitorListener } from "../workers/janitor/janitor.ts";
import type { MirrorReports } from "../workers/mirror/mirror.ts";
import type { ProvisionerListener } from "../workers/provisioner/provisioner.ts";

export function logJanitor(logger: Logger): JanitorListener {
  return {
    started: ({ resource, pool }) => logger.info({ resource, pool }, "cleaning"),
    finished: ({ resource, pool }, result, durationMs) => {
      const facts = { resource, pool, seconds: Math.round(durationMs / 1_000) };
      if (result.how !== "failed") logger.info(facts, result.how);
      else logger.warn({ ...facts, output: result.output }, "cleaning failed");
    },
    retrying: (err) =>
      logger.error({ err }, "the janitor cannot lease a dirty resource; it tries again"),
  };
}

export function logProvisioner(logger: Logger): ProvisionerListener {
  return {
    started: ({ resource, pool, phase }) => logger.debug({ resource, pool }, phase),
    finished: ({ resource, pool, phase }, { state, failure }, durationMs) => {
      const facts = { resource, pool, phase, seconds: Math.round(durationMs / 1_000) };
      if (failure !== undefined) {
        logger.warn({ ...facts, failure }, state === undefined ? "tries again" : state);
      } else logger.info(facts, state ?? "interrupted");
    },
    lost: ({ resource, pool, instance }, why) =>
      logger.warn({ resource, pool, instance, why }, "the cluster is lost"),
    orphan: ({ name, instance, template, createdAt }, isDestroyed) => {
      const facts = { name, instance, template, createdAt };
      const what = isDestroyed ? "it is destroyed" : "destroy it by hand, or adopt it";
      logger.warn(facts, `a cluster exists that nobody knows of; ${what}`);
    },
    retrying: (err) => logger.error({ err }, "the provisioner failed; it tries again"),
  };
}

export function logAdmission(logger: Logger): AdmissionListener {
  const words: Readonly<Record<Verdict, string>> = {
    room: "the cluster has capacity: the pool grants leases",
    none: "the cluster has no capacity: the pool grants no leases",
    unknown: "the capacity check failed: the pool grants no leases",
  };
  return {
    verdict: (pool, verdict, why) => {
      if (verdict === "unknown") logger.error({ pool, why }, words[verdict]);
      else logger.info({ pool, ...(why === "" ? undefined : { why }) }, words[verdict]);
    },
  };
}

export function logIssuers(logger: Logger): IssuerReports {
  return {
    up: (issuer) => logger.info({ issuer }, "the issuer of tokens answers"),
    down: (issuer, err) => {
      const state = "the issuer of tokens does not answer; keys that are known stay in use";
      logger.error({ issuer, err }, state);
    },
  };
}

export function logSignIn(logger: Logger): (issuer: string, why: string) => void {
  return (issuer, why) => logger.error({ issuer, why }, "a person could not sign in");
}

export function logMirror(logger: Logger): MirrorReports {
  return {
    up: () => logger.info("leases are mirrored in Kubernetes"),
    down: (err) => logger.error({ err }, "the mirror in Kubernetes failed; it tries again"),
    left: (name, why) => logger.warn({ name, why }, "a mirrored Lease stays unchanged"),
    cleared: ({ namespace, prefix }, err) => {
      const facts = { namespace, prefix };
      if (err === undefined) logger.info(facts, "the mirrored Leases were removed");
      else logger.warn({ ...facts, err }, "the mirrored Leases could not be removed");
    },
  };
}

export function logFronts(logger: Logger): FrontListener {
  return {
    up: (front) => logger.info({ front }, "objects of an API server are served"),
    down: (front, err) => logger.error({ front, err }, "objects cannot be served; it tries again"),
    taken: (front, why) =>
      why === undefined
        ? logger.info({ front }, "no other installation uses the name of the API server any longer")
        : logger.error({ front, why }, "another installation uses the name of an API server"),
    failed: (front, object, err) =>
      logger.warn({ front, object, err }, "an object cannot be served now; it tries again"),
  };
}
