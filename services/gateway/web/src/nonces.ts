import { fromHex, toHex } from "./fairness";

const PREFIX = "eastwind.nonce.";

/**
 * One's own numbers for the walls of a table, kept so that a reloaded page can still reveal what it has sealed and check
 * what it has revealed.
 */
export class NonceStore {
  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">) {}

  /** The number under a seal; null when this browser did not make it. */
  sealed(tableId: string, seal: Uint8Array): Uint8Array | null {
    return this.read(`${tableId}.seal.${toHex(seal)}`);
  }

  putSealed(tableId: string, seal: Uint8Array, nonce: Uint8Array): void {
    this.storage.setItem(`${PREFIX}${tableId}.seal.${toHex(seal)}`, toHex(nonce));
  }

  /** The number that was revealed for a hand; null when none was. */
  revealed(tableId: string, hand: number): Uint8Array | null {
    return this.read(`${tableId}.hand.${hand}`);
  }

  putRevealed(tableId: string, hand: number, nonce: Uint8Array): void {
    this.storage.setItem(`${PREFIX}${tableId}.hand.${hand}`, toHex(nonce));
  }

  /** Forgets the numbers of all other tables. */
  keepOnly(tableId: string): void {
    const keys = Array.from({ length: this.storage.length }, (_, index) => this.storage.key(index));
    for (const key of keys) {
      if (key?.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${tableId}.`)) this.storage.removeItem(key);
    }
  }

  private read(name: string): Uint8Array | null {
    const text = this.storage.getItem(PREFIX + name);
    if (text === null) return null;
    try {
      return fromHex(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return null;
    }
  }
}
