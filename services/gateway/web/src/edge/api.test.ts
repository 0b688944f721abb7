import { expect, test } from "vitest";
import { MatchmakingService } from "../gen/eastwind/matchmaking/v1/matchmaking_service_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import { Account } from "./account";
import { Api, ApiError, reasonOf, reasonWords } from "./api";

const { listTables, joinTable } = MatchmakingService.method;

function answering(status: number, body: unknown, seen: { path: string; init: RequestInit }[] = []): Api {
  return new Api(
    async () => "token",
    async (path, init) => {
      seen.push({ path, init });
      return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
    },
  );
}

test("a call is a POST of protobuf JSON to the method's path, with the token", async () => {
  const seen: { path: string; init: RequestInit }[] = [];
  const answer = await answering(200, { tables: [{ tableId: "t1", later: true }] }, seen).call(listTables, {
    pageSize: 5,
  });
  expect(answer.tables[0]?.tableId).toBe("t1");
  expect(seen[0]?.path).toBe("/api/eastwind.matchmaking.v1.MatchmakingService/ListTables");
  expect(seen[0]?.init.body).toBe('{"pageSize":5}');
  expect(seen[0]?.init.headers).toMatchObject({ Authorization: "Bearer token" });
});

test("a refusal carries its reason and words for people", async () => {
  const call = answering(409, { reason: "TABLE_FULL", message: "all seats are taken" }).call(joinTable, {
    tableId: "t",
  });
  const error = await call.catch((each: unknown) => each);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).reason).toBe(Reason.TABLE_FULL);
  expect((error as ApiError).message).toContain("Choose another one");
});

test("a server that does not answer, or answers nonsense, is said to be unavailable", async () => {
  const broken = new Api(
    async () => null,
    async () => {
      throw new TypeError("failed to fetch");
    },
  );
  for (const api of [broken, answering(502, "<html>bad gateway</html>")]) {
    const error = (await api.call(listTables, {}).catch((each: unknown) => each)) as ApiError;
    expect(error.reason).toBe(Reason.UNAVAILABLE);
  }
});

test("reasons are known by name with and without prefix, and by number", () => {
  expect(reasonOf("STALE_DECISION")).toBe(Reason.STALE_DECISION);
  expect(reasonOf("REASON_STALE_DECISION")).toBe(Reason.STALE_DECISION);
  expect(reasonOf(3)).toBe(Reason.STALE_DECISION);
  expect(reasonOf("SOMETHING_NEW")).toBeNull();
  expect(reasonOf(9999)).toBeNull();
});

test("an unknown reason is said in the server's words", () => {
  expect(reasonWords(Reason.INTERNAL, "the page token is wrong")).toBe("The page token is wrong.");
  expect(reasonWords(Reason.INTERNAL, "")).toBe("That did not work. Try again.");
});

class Memory {
  readonly items = new Map<string, string>();
  getItem = (key: string) => this.items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.items.set(key, value);
  removeItem = (key: string) => void this.items.delete(key);
}

/** Accounts of a server that gives tokens that last a minute. */
function accounts(memory: Memory, clock: { now: number }, refuse = false) {
  const calls: string[] = [];
  let made = 0;
  const account = new Account(
    memory,
    async (path) => {
      calls.push(path.split("/").at(-1) ?? "");
      if (refuse && path.endsWith("RefreshSession")) {
        return new Response(JSON.stringify({ reason: "UNAUTHENTICATED" }), { status: 401 });
      }
      made += 1;
      const session = {
        accountId: "a",
        name: "Ines",
        accessToken: `token-${made}`,
        accessExpiresMs: String(clock.now + 60_000),
        refreshToken: `refresh-${made}`,
      };
      return new Response(JSON.stringify({ session }));
    },
    () => clock.now,
    () => ({ request: (_name, action) => action() }),
  );
  return { account, calls };
}

test("a session is kept in the browser and renewed shortly before it runs out", async () => {
  const memory = new Memory();
  const clock = { now: 0 };
  const { account, calls } = accounts(memory, clock);
  await account.playAsGuest("Ines");
  expect(await account.token()).toBe("token-1");
  clock.now = 31_000;
  expect(await account.token()).toBe("token-2");
  expect(await account.token()).toBe("token-2");
  expect(calls).toEqual(["RegisterGuest", "RefreshSession"]);
  expect(accounts(memory, clock).account.signed?.refreshToken).toBe("refresh-2");
});

test("a session that cannot be renewed is forgotten", async () => {
  const memory = new Memory();
  const clock = { now: 0 };
  await accounts(memory, clock).account.playAsGuest("");
  clock.now = 60_000;
  expect(await accounts(memory, clock, true).account.token()).toBeNull();
  expect(memory.items.size).toBe(0);
});

test("what is stored and is no session counts as none", () => {
  const memory = new Memory();
  for (const text of ["nonsense", "{}", "null", '{"accountId":1}']) {
    memory.setItem("eastwind.session", text);
    expect(accounts(memory, { now: 0 }).account.signed).toBeNull();
  }
});
