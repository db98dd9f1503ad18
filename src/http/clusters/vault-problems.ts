import { Problem } from "../../api/problem.ts";
import { VaultUnusable } from "../../vault/vault.ts";

/** A vault that cannot be opened is no bug: its message says what to repair. */
export async function opened<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof VaultUnusable)) throw error;
    const { message } = error;
    const hint =
      "Lending goes on. Operators: the log has the cause, and the guide to clusters what to do";
    throw new Problem(
      { code: "vault_unavailable", status: 503, message: publicMessage(message), hint },
      error,
    );
  }
}

/** Without the paths of the server. */
function publicMessage(message: string): string {
  return message.replaceAll(/ "\/[^"]*"/g, "").replaceAll(/ in "[^"]*"/g, "");
}

export function credentialsNotFound(name: string): Problem {
  return new Problem({
    code: "credentials_not_found",
    status: 404,
    message: `Cannot find the credentials "${name}" in your space`,
    hint: "List them with GET /v1/credentials; store them with PUT /v1/credentials/NAME",
  });
}
