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
