import { useState } from "preact/hooks";
import { Brand } from "../table/TableHeader";

interface SignInProps {
  busy: boolean;
  problem: string;
  onGuest: (name: string) => void;
  onLogIn: (name: string, password: string) => void;
  onRegister: (name: string, password: string) => void;
}

type Way = "guest" | "log in" | "register";

const TITLES: Record<Way, string> = { guest: "Play now", "log in": "Log in", register: "Make an account" };

/** A name and one button; an account is for those who want one. */
export function SignIn({ busy, problem, onGuest, onLogIn, onRegister }: SignInProps) {
  const [way, setWay] = useState<Way>("guest");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (way === "guest") onGuest(name.trim());
    else if (way === "log in") onLogIn(name.trim(), password);
    else onRegister(name.trim(), password);
  };
  return (
    <main class="page sign-in">
      <div class="sign-in-card">
        <h1>
          <Brand />
        </h1>
        <p class="quiet">Mahjong with people everywhere, or with computers. Every wall can be verified.</p>
        <form onSubmit={submit}>
          <label class="field">
            <span>Your name</span>
            <input
              name="name"
              value={name}
              maxLength={20}
              autocomplete="username"
              placeholder={way === "guest" ? "leave empty for a made-up one" : ""}
              required={way !== "guest"}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          {way !== "guest" && (
            <label class="field">
              <span>Password</span>
              <input
                name="password"
                type="password"
                value={password}
                minLength={way === "register" ? 8 : 1}
                maxLength={256}
                autocomplete={way === "register" ? "new-password" : "current-password"}
                required
                onInput={(event) => setPassword(event.currentTarget.value)}
              />
            </label>
          )}
          <p class="problem" role="alert">
            {problem}
          </p>
          <button type="submit" class="action best wide" disabled={busy}>
            {TITLES[way]}
          </button>
        </form>
        <p class="other-ways">
          {(Object.keys(TITLES) as Way[])
            .filter((each) => each !== way)
            .map((each) => (
              <button key={each} type="button" class="link" onClick={() => setWay(each)}>
                {each === "guest" ? "Play as a guest" : TITLES[each]}
              </button>
            ))}
        </p>
      </div>
    </main>
  );
}
