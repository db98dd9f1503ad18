import { berth } from "../data/berth.ts";
import { askToSignIn, whoami } from "../data/live.ts";
import { noteSignedOut } from "../data/sign-in.ts";
import { useStore } from "../data/store.ts";

/** Who reads the page, and the way out. Nothing on a server without authentication. */
export function SignedIn() {
  const us = useStore(whoami);
  if (us === null || !us.authentication || us.name === null) return null;
  const signOut = async () => {
    const { issuer } = await berth.signOut();
    noteSignedOut(issuer);
    // Nothing of what was shown stays in the memory of the page.
    location.reload();
  };
  if (us.proof === "none") {
    return (
      <button type="button" className="quiet" onClick={askToSignIn}>
        Sign in
      </button>
    );
  }
  return (
    <>
      <span className="signed-in" title={`${us.name}, ${us.role} in the space ${us.space}`}>
        <span>{us.name} </span>
        <small>
          {us.role}, {us.space}
        </small>
      </span>
      <button type="button" className="quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
}
