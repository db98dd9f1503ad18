/** The first word of the User-Agent header of `berth`, so that the audit can tell its calls. */
export const commandLineAgent = "berth-cli";
