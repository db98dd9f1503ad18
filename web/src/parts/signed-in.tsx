import { berth } from "../data/berth.ts";
import { signingIn, whoami } from "../data/live.ts";
import { useStore } from "../data/store.ts";

/** Who reads the page, and the way out. Nothing on a server without authentication. */
export function SignedIn() {
  const us = useStore(whoami);
  if (us === null || !us.authentication || us.name === null) return null;
  const signOut = async () => {
    await berth.signOut();
    // Nothing of what was shown stays in the memory of the page.
    location.reload();
  };
  if (us.proof === "none") {
    return (
      <button type="button" className="quiet" onClick={() => signingIn.set(true)}>
        Sign in
      </button>
    );
  }
  return (
    <>
      <span className="signed-in" title={`${us.role} in the space ${us.space}`}>
        {us.name}
      </span>
      <button type="button" className="quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
}
