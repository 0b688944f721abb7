import { toHex } from "../fairness";

/** A fresh id for a command or a request: 32 hexadecimal digits. */
export function newId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}
