import { type FormEvent, useEffect, useRef, useState } from "react";
import { berth } from "../data/berth.ts";
import { retry, signingIn, whoami } from "../data/live.ts";
import { ProblemNote } from "../parts/notes.tsx";

/** Shown instead of everything else while the server does not know who reads the page. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const run = async () => {
    setRunning(true);
    setError(undefined);
    try {
      whoami.set(await berth.signIn(token.trim()));
      signingIn.set(false);
      retry();
    } catch (problem) {
      setError(problem);
      setRunning(false);
      field.current?.select();
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run();
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>Sign in to Berth</h1>
        <label>
          Token
          <input
            ref={field}
            type="password"
            required
            maxLength={2_048}
            autoComplete="current-password"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p className="aside-note">
          An operator of this server makes one with <code>berth token new</code>. The browser keeps
          it for eight hours, encrypted, and no script can read it.
        </p>
        <ProblemNote error={error} />
        <div className="buttons">
          <button type="submit" className="act" disabled={running}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}
