/** Sign-in with a code that the person enters on any device (RFC 8628). */
import type { ServerMetadata } from "openid-client";
import { grant, type PersonClient, type PersonTokens, scopeFor } from "./person-tokens.ts";
import { loadOpenIdClient } from "./provider.ts";

export interface DeviceCode {
  readonly url: string;
  /** The address with the code in it, if the issuer has one. */
  readonly wholeUrl?: string;
  readonly code: string;
}

export async function signInByDevice(
  metadata: ServerMetadata,
  client: PersonClient,
  show: (code: DeviceCode) => void,
  signal: AbortSignal,
): Promise<PersonTokens> {
  const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await loadOpenIdClient();
  return grant(metadata, client, async (configuration) => {
    const scope = scopeFor(client, metadata);
    const begun = await initiateDeviceAuthorization(configuration, { scope });
    const { verification_uri: url, verification_uri_complete: wholeUrl, user_code: code } = begun;
    show({ url, code, ...(wholeUrl === undefined ? undefined : { wholeUrl }) });
    return pollDeviceAuthorizationGrant(configuration, begun, undefined, { signal });
  });
}
