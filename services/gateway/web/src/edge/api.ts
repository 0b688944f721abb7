/** Unary methods over HTTP. */

import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";

const TIMEOUT_MS = 10_000;

/** A refusal: `reason` is for the program, `message` for people. */
export class ApiError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** Calls methods by their contract. `token` gives the access token, null for none. */
export class Api {
  constructor(
    private readonly token: () => Promise<string | null>,
    private readonly send: Fetch = (path, init) => fetch(path, init),
  ) {}

  /** The method's answer. Throws ApiError for a refusal, and with reason UNAVAILABLE when nobody answers. */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    anonymous = false,
  ): Promise<MessageShape<O>> {
    const token = anonymous ? null : await this.token();
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    let answer: Response;
    let body: unknown;
    try {
      answer = await this.send(`/api/${method.parent.typeName}/${method.name}`, {
        method: "POST",
        headers,
        body: toJsonString(method.input, create(method.input, request)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await answer.text();
      body = text ? JSON.parse(text) : {};
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)) throw error;
      throw new ApiError(Reason.UNAVAILABLE, "The server does not answer. Check your connection and try again.");
    }
    if (!answer.ok) throw refusal(answer.status, body);
    return fromJson(method.output, body as Parameters<typeof fromJson>[1], { ignoreUnknownFields: true });
  }
}

function refusal(status: number, body: unknown): ApiError {
  const fields = body !== null && typeof body === "object" ? (body as Record<string, unknown>) : {};
  const detail = [fields.detail, fields.message].find((text) => typeof text === "string" && text !== "");
  const reason = reasonOf(fields.reason) ?? (status === 401 ? Reason.UNAUTHENTICATED : Reason.UNAVAILABLE);
  return new ApiError(reason, reasonWords(reason, typeof detail === "string" ? detail : ""));
}

/** A reason by its name, with or without the prefix, or its number. */
export function reasonOf(value: unknown): Reason | null {
  if (typeof value === "number") return Reason[value] === undefined ? null : value;
  if (typeof value !== "string") return null;
  const found = Reason[value.replace(/^REASON_/, "") as keyof typeof Reason];
  return found ?? null;
}

const WORDS: Partial<Record<Reason, string>> = {
  [Reason.STALE_DECISION]: "Too late: the time was up. The table shows what happened.",
  [Reason.ALREADY_ANSWERED]: "You have answered this already.",
  [Reason.BELOW_MINIMUM]: "This hand is complete but not worth enough to win.",
  [Reason.TABLE_FULL]: "All seats at this table are taken. Choose another one.",
  [Reason.TABLE_CLOSED]: "This table is closed. Choose another one.",
  [Reason.TABLE_UNKNOWN]: "There is no such table any more. Choose another one.",
  [Reason.WRONG_CODE]: "No table has this invitation code. Check it and try again.",
  [Reason.NAME_TAKEN]: "This name is taken. Choose another one.",
  [Reason.NAME_INVALID]: "A name has 2 to 20 characters that can be seen. Choose another one.",
  [Reason.PASSWORD_INVALID]: "A password has 8 to 256 characters.",
  [Reason.WRONG_CREDENTIALS]: "Name and password do not belong together. Try again.",
  [Reason.ALREADY_PLAYING]: "You play at another table. Finish there first.",
  [Reason.RATE_LIMITED]: "That was too fast. Wait a moment and try again.",
  [Reason.UNAUTHENTICATED]: "Your session has ended. Sign in again.",
  [Reason.UNAVAILABLE]: "The server is busy. Try again in a moment.",
  [Reason.RECORD_UNKNOWN]: "There is no such replay, or it is not yours to see.",
};

/** What a reason means to a player: what happened and what to do. */
export function reasonWords(reason: Reason, detail: string): string {
  return (
    WORDS[reason] ??
    (detail
      ? `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`.replace(/\.+$/, ".")
      : "That did not work. Try again.")
  );
}
