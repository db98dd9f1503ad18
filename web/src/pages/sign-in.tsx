import { useEffect, useState } from "react";
import type { SignInOffer } from "../../../src/api/schemas.ts";
import { berth } from "../data/berth.ts";
import { retry, signingIn, whoami } from "../data/live.ts";
import {
  beginSignIn,
  forgetSignedOut,
  justSignedOut,
  returning,
  signInNote,
} from "../data/sign-in.ts";
import { useStore } from "../data/store.ts";
import { Mark } from "../parts/mark.tsx";
import { ProblemNote } from "../parts/notes.tsx";
import { TokenForm } from "./token-form.tsx";

/** Shown instead of everything else while the server does not know who reads the page. */
export function SignIn() {
  const [offer, setOffer] = useState<SignInOffer>();
  const returned = useStore(returning);
  const [error, setError] = useState(returned.state === "failed" ? returned.error : undefined);
  useEffect(() => {
    berth.signInOffer().then(setOffer, setError);
  }, []);
  useWayBack();
  const issuers = offer?.issuers.filter(({ page }) => page) ?? [];
  return (
    <main className="sign-in">
      <section>
        <h1>
          <Mark /> Sign in to Berth
        </h1>
        <p className="aside-note">
          The server at <b>{location.host}</b>
        </p>
        <SignedOutNote />
        <ProblemNote error={error} />
        <div className="issuers">
          {issuers.map(({ issuer, title }) => (
            <IssuerButton
              key={issuer}
              {...{ issuer, title, publicUrl: offer?.publicUrl ?? null, onProblem: setError }}
            />
          ))}
        </div>
        {issuers.length > 0 && offer?.tokens ? <p className="or">or with a token</p> : null}
        {offer?.tokens || (offer && issuers.length === 0) ? (
          <TokenForm
            focus={issuers.length === 0}
            onProblem={setError}
            onDone={(us) => {
              whoami.set(us);
              forget();
              retry();
            }}
          />
        ) : null}
        <WithoutSignIn />
      </section>
    </main>
  );
}

/** Those whom the server knows without credentials need not sign in: Back and Escape lead to where they were. */
function useWayBack(): void {
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape" && whoami.get()?.name) forget();
    };
    window.addEventListener("popstate", forget);
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("popstate", forget);
      window.removeEventListener("keydown", onKey);
    };
  }, []);
}

function WithoutSignIn() {
  const us = useStore(whoami);
  if (!us?.name) return null;
  return (
    <>
      <p className="aside-note">
        Without signing in you act as {us.name}, with the role {us.role}. If you sign in, your own
        name is stored with what you do.
      </p>
      <div className="buttons">
        <button type="button" className="quiet" onClick={forget}>
          Go on without signing in
        </button>
      </div>
    </>
  );
}

/** Nothing of an earlier sign-in is shown any more. */
function forget(): void {
  forgetSignedOut();
  signInNote.set(null);
  returning.set({ state: "none" });
  signingIn.set(false);
}

function SignedOutNote() {
  const note = useStore(signInNote);
  const [signedOut] = useState(justSignedOut);
  useEffect(forgetSignedOut, []);
  const us = useStore(whoami);
  if (note !== null) return <p className="note">{note}</p>;
  const refusal = us?.name === null ? us.refusal : null;
  // Without any session it only says that there are no credentials.
  if (refusal !== null && !refusal.startsWith("Cannot tell who is calling")) {
    return <p className="note">{refusal}</p>;
  }
  if (signedOut === undefined) return null;
  return (
    <p className="note" role="status">
      You are signed out of Berth.{" "}
      {signedOut === "" ? null : (
        <a href={signedOut}>Sign out of {new URL(signedOut).host} as well</a>
      )}
    </p>
  );
}

interface ButtonProps {
  readonly issuer: string;
  readonly title: string;
  readonly publicUrl: string | null;
  readonly onProblem: (problem: unknown) => void;
}

function IssuerButton({ issuer, title, publicUrl, onProblem }: ButtonProps) {
  const [running, setRunning] = useState(false);
  if (publicUrl !== null && publicUrl !== location.origin) {
    return (
      <a className="act" href={publicUrl + location.pathname + location.search}>
        Sign in at {new URL(publicUrl).host}
      </a>
    );
  }
  const begin = () => {
    setRunning(true);
    onProblem(undefined);
    beginSignIn(issuer).catch((problem: unknown) => {
      setRunning(false);
      onProblem(problem);
    });
  };
  return (
    <button type="button" className="act" disabled={running} onClick={begin}>
      Sign in with {title}
    </button>
  );
}
