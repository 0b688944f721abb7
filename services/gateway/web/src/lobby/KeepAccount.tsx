import { useState } from "preact/hooks";

interface KeepAccountProps {
  name: string;
  busy: boolean;
  onRegister: (name: string, password: string) => void;
}

/** Turns a guest into an account that keeps its rating. */
export function KeepAccount({ name, busy, onRegister }: KeepAccountProps) {
  const [wished, setWished] = useState(name);
  const [password, setPassword] = useState("");
  return (
    <form
      class="keep"
      onSubmit={(event) => {
        event.preventDefault();
        onRegister(wished.trim(), password);
      }}
    >
      <h2>Keep this account</h2>
      <p class="quiet">A guest lives in this browser only. A password keeps name and rating.</p>
      <label class="field">
        <span>Name</span>
        <input
          name="name"
          value={wished}
          minLength={2}
          maxLength={20}
          required
          onInput={(event) => setWished(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Password, at least 8 characters</span>
        <input
          name="password"
          type="password"
          value={password}
          minLength={8}
          maxLength={256}
          autocomplete="new-password"
          required
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="action" disabled={busy}>
        Keep it
      </button>
    </form>
  );
}
