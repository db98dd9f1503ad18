import { BerthUnreachable } from "../../client/errors.ts";

/** GitHub's service did not answer. Commands that wait try again, as if it were the server. */
export class NoIdToken extends BerthUnreachable {
  override readonly hint: string =
    "Run the job again, or set BERTH_TOKEN; see https://www.githubstatus.com";
}
