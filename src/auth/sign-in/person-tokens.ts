/** The tokens of a person on the command line: how they are got, renewed and given back. */
import type { Configuration, ServerMetadata } from "openid-client";
import { clientOf, loadOpenIdClient } from "./provider.ts";

/** A client without a secret, which the server names. */
export interface PersonClient {
  readonly issuer: string;
  readonly client: string;
  readonly scopes: readonly string[];
}

export interface PersonTokens {
  readonly idToken: string;
  /** Absent: the person must sign in again when the id token has expired. */
  readonly refreshToken?: string;
}

/** Thrown if the person or the issuer says no. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
}

/** Asks for a refresh token where the issuer knows the scope for it. */
export function scopeFor({ scopes }: PersonClient, metadata: ServerMetadata): string {
  const isKnown = metadata.scopes_supported?.includes("offline_access") ?? false;
  return [...new Set([...scopes, ...(isKnown ? ["offline_access"] : [])])].join(" ");
}

/** Returns undefined if the issuer does not accept the refresh token any more. */
export async function renew(
  metadata: ServerMetadata,
  { client }: PersonClient,
  refreshToken: string,
): Promise<PersonTokens | undefined> {
  const { refreshTokenGrant, ResponseBodyError } = await loadOpenIdClient();
  try {
    const answer = await refreshTokenGrant(await clientOf(metadata, client), refreshToken);
    // Some issuers give a new one each time, and some none.
    const next = answer.refresh_token ?? refreshToken;
    return answer.id_token === undefined
      ? undefined
      : { idToken: answer.id_token, refreshToken: next };
  } catch (error) {
    if (error instanceof ResponseBodyError && error.status < 500) return undefined;
    throw error;
  }
}

/** Ends what the refresh token stands for, if the issuer can. */
export async function revoke(
  metadata: ServerMetadata,
  { client }: PersonClient,
  refreshToken: string,
): Promise<void> {
  if (metadata.revocation_endpoint === undefined) return;
  const { tokenRevocation } = await loadOpenIdClient();
  await tokenRevocation(await clientOf(metadata, client), refreshToken);
}

/** Calls the issuer, and names its refusal. */
export async function grant(
  metadata: ServerMetadata,
  { client }: PersonClient,
  ask: (
    client: Configuration,
  ) => Promise<{ id_token?: string | undefined; refresh_token?: string | undefined }>,
): Promise<PersonTokens> {
  const { AuthorizationResponseError, ResponseBodyError } = await loadOpenIdClient();
  try {
    const { id_token: idToken, refresh_token: refreshToken } = await ask(
      await clientOf(metadata, client),
    );
    if (idToken === undefined) throw new SignInRefused("the issuer has sent no id token");
    return { idToken, ...(refreshToken === undefined ? undefined : { refreshToken }) };
  } catch (error) {
    const isNo = error instanceof AuthorizationResponseError || error instanceof ResponseBodyError;
    if (isNo) throw new SignInRefused(words[error.error] ?? `the issuer says ${error.error}`);
    throw error;
  }
}

const words: Readonly<Record<string, string>> = {
  access_denied: "it was cancelled or denied",
  expired_token: "nobody has entered the code in time",
  invalid_client: "the issuer does not know the client of berth login",
};
