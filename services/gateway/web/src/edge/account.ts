/** Who is signed in here: the session, kept in this browser and renewed before it runs out. */

import { AccountsService, type Session } from "../gen/eastwind/accounts/v1/accounts_service_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import { Api, ApiError, type Fetch } from "./api";

const STORED = "eastwind.session";
const RENEW_BEFORE_MS = 30_000;

export interface Signed {
  readonly accountId: string;
  readonly name: string;
  readonly guest: boolean;
  readonly accessToken: string;
  readonly accessExpiresMs: number;
  readonly refreshToken: string;
}

type Locks = { request<T>(name: string, action: () => Promise<T>): Promise<T> };

/** One tab renews at a time: a refresh token is good once. */
function browserLocks(): Locks {
  return navigator.locks ?? { request: (_name, action) => action() };
}

export class Account {
  private readonly api: Api;

  constructor(
    private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">,
    send?: Fetch,
    private readonly now: () => number = () => Date.now(),
    private readonly locks: () => Locks = browserLocks,
  ) {
    this.api = new Api(async () => this.signed?.accessToken ?? null, send);
  }

  /** The session of this browser, be it another tab that began it; null when nobody is signed in. */
  get signed(): Signed | null {
    const text = this.storage.getItem(STORED);
    if (text === null) return null;
    try {
      const parsed: unknown = JSON.parse(text);
      return isSigned(parsed) ? parsed : null;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return null;
    }
  }

  async playAsGuest(name: string): Promise<Signed> {
    return this.keep((await this.api.call(AccountsService.method.registerGuest, { name }, true)).session);
  }

  async logIn(name: string, password: string): Promise<Signed> {
    return this.keep((await this.api.call(AccountsService.method.logIn, { name, password }, true)).session);
  }

  /** Makes an account; a guest who is signed in becomes that account. */
  async register(name: string, password: string): Promise<Signed> {
    await this.token();
    return this.keep((await this.api.call(AccountsService.method.register, { name, password })).session);
  }

  async logOut(): Promise<void> {
    const refreshToken = this.signed?.refreshToken;
    this.storage.removeItem(STORED);
    if (refreshToken) await this.api.call(AccountsService.method.logOut, { refreshToken }, true);
  }

  /** Drops a session that the server does not accept any more. */
  forget(): void {
    this.storage.removeItem(STORED);
  }

  /** A token that is good for a while; null when nobody is signed in or the session cannot be renewed any more. */
  async token(): Promise<string | null> {
    const current = this.signed;
    if (!current) return null;
    if (this.isFresh(current)) return current.accessToken;
    return this.locks().request("eastwind.session", async () => {
      const latest = this.signed;
      if (!latest) return null;
      if (this.isFresh(latest)) return latest.accessToken;
      try {
        const { session } = await this.api.call(
          AccountsService.method.refreshSession,
          { refreshToken: latest.refreshToken },
          true,
        );
        return this.keep(session).accessToken;
      } catch (error) {
        if (error instanceof ApiError && error.reason === Reason.UNAUTHENTICATED) {
          this.forget();
          return null;
        }
        throw error;
      }
    });
  }

  private isFresh(signed: Signed): boolean {
    return signed.accessExpiresMs - RENEW_BEFORE_MS > this.now();
  }

  private keep(session: Session | undefined): Signed {
    if (!session) throw new ApiError(Reason.INTERNAL, "The server gave no session. Try again.");
    const signed: Signed = {
      accountId: session.accountId,
      name: session.name,
      guest: session.guest,
      accessToken: session.accessToken,
      accessExpiresMs: Number(session.accessExpiresMs),
      refreshToken: session.refreshToken,
    };
    this.storage.setItem(STORED, JSON.stringify(signed));
    return signed;
  }
}

function isSigned(value: unknown): value is Signed {
  if (value === null || typeof value !== "object") return false;
  const fields = value as Record<string, unknown>;
  const texts = ["accountId", "name", "accessToken", "refreshToken"];
  return texts.every((name) => typeof fields[name] === "string") && typeof fields.accessExpiresMs === "number";
}
