/** One answer per prompt: a second click, tap or key finds the gate closed until the prompt changes or is rejected (C099). */
export class Once {
  private promptId: string | null = null;
  private sent = false;
  private since = 0;

  /** Tells which prompt is open; `answered` false again after a rejection opens the gate for another try. */
  follow(promptId: string | null, answered: boolean, now: number): void {
    if (promptId !== this.promptId) {
      this.promptId = promptId;
      this.sent = answered;
      this.since = now;
    } else {
      this.sent = answered;
    }
  }

  /** True exactly once while the prompt is open. */
  take(): boolean {
    if (this.promptId === null || this.sent) return false;
    this.sent = true;
    return true;
  }

  /** Milliseconds for which this prompt has been open. */
  openFor(now: number): number {
    return now - this.since;
  }
}
