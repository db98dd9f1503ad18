import type { Observation } from "./driver.ts";

/** Knows the secrets that were used so far, and masks them in text for people. */
export interface SecretMask {
  /** Before the first use of the value. */
  register(value: string): void;
  /** A document such as a kubeconfig: as a whole, and each secret inside of it. */
  registerDocument(text: string): void;
  clean(text: string): string;
}

export const noMask: SecretMask = {
  register: () => {},
  registerDocument: () => {},
  clean: (text) => text,
};

/** The texts of an observation are shown to people and journalled, so no driver may put a secret there. */
export function maskObservation(seen: Observation, mask: SecretMask): Observation {
  const { message, apiUrl, version, blocking } = seen;
  return {
    ...seen,
    ...(message === undefined ? undefined : { message: mask.clean(message) }),
    ...(apiUrl === undefined ? undefined : { apiUrl: mask.clean(apiUrl) }),
    ...(version === undefined ? undefined : { version: mask.clean(version) }),
    ...(blocking === undefined ? undefined : { blocking: blocking.map((one) => mask.clean(one)) }),
  };
}
